// SPDX-License-Identifier: Apache-2.0
/* Numbers of several states side by side, in the vector types of GCC and Clang; sine and cosine for |x| <= MAX_ANGLE. */

#define LANES 4
#define MAX_ANGLE 1e5

typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef long long lane_bits __attribute__((vector_size(8 * LANES)));

/* Reduces x by multiples of pi/2 (Cody and Waite), and evaluates the polynomials of fdlibm's k_sin.c and k_cos.c. */
static inline __attribute__((always_inline)) lanes sine_of_lanes(lanes x, int quarters)
{
    const lanes shifted = x * 0x1.45f306dc9c883p-1 + 0x1.8p52; /* its lowest bits are the number of quarter turns */
    const lanes n = shifted - 0x1.8p52;
    const lane_bits k = (lane_bits)shifted + quarters;
    const lanes r = ((x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a6p-34) - n * 0x1.3198a2e037073p-69;
    const lanes z = r * r;
    const lanes s = r + r * z * (-0x1.5555555555549p-3 + z * (0x1.111111110f8a6p-7 + z * (-0x1.a01a019c161d5p-13
        + z * (0x1.71de357b1fe7dp-19 + z * (-0x1.ae5e68a2b9cebp-26 + z * 0x1.5d93a5acfd57cp-33)))));
    const lanes c = (1.0 - 0.5 * z) + z * z * (0x1.555555555554cp-5 + z * (-0x1.6c16c16c15177p-10
        + z * (0x1.a01a019cb1590p-16 + z * (-0x1.27e4f809c52adp-22 + z * (0x1.1ee9ebdb4b1c4p-29
        - z * 0x1.8fae9be8838d4p-37)))));
    const lane_bits odd = (k & 1) != 0;
    const lane_bits bits = ((lane_bits)c & odd) | ((lane_bits)s & ~odd);
    return (lanes)(bits ^ ((k & 2) << 62));
}

static inline __attribute__((always_inline)) lanes sin_of_lanes(lanes x) { return sine_of_lanes(x, 0); }
static inline __attribute__((always_inline)) lanes cos_of_lanes(lanes x) { return sine_of_lanes(x, 1); }

static inline lanes fabs_of_lanes(lanes x) { return (lanes)((lane_bits)x & 0x7fffffffffffffff); }

static inline lanes exp_of_lanes(lanes x)
{
    for (int lane = 0; lane < LANES; lane++)
        x[lane] = exp(x[lane]);
    return x;
}

static inline lanes tanh_of_lanes(lanes x)
{
    for (int lane = 0; lane < LANES; lane++)
        x[lane] = tanh(x[lane]);
    return x;
}
