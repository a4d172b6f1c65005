// SPDX-License-Identifier: Apache-2.0
// The law that carries an arm, without ROS: it follows a reference while there is one, and else holds the arm.
//
// Needs C++17 and tape.hpp. Making one allocates; update() allocates nothing and throws nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ros2_dyn_controllers/tape.hpp"

namespace ros2_dyn
{

/// Time over which rates of positions are filtered, s.
inline constexpr double RATE_TIME = 0.01;
/// Positions, velocities, accelerations and efforts beyond this are none, in SI units: what is computed of them may not be
/// finite.
inline constexpr double LARGEST = 1e9;

struct HolderSettings
{
  /// Of the control of positions, rad/s: an error dies out as with critical damping.
  double bandwidth = 10.0;
  /// Whether an arm without reference is held where it is; else its weight is carried, and a hand moves it.
  bool hold = true;
  /// Rate at which an arm that is not held loses its speed, 1/s.
  double damping = 2.0;
  /// Time in which an effort may change by its limit while a reference is followed, s.
  double slew_time = 0.1;
  /// Time in which a payload takes effect, s.
  double payload_time = 1.0;
  /// Age at which a reference or a state counts no more, s.
  double timeout = 0.1;
  /// Part of its velocity limit that a joint may exceed it by before it is stopped.
  double speed_margin = 0.2;
};

/// What the arm should do; null, or no finite number below LARGEST, where nothing is asked. Positions count before efforts.
struct Reference
{
  /// Efforts beyond gravity, N m or N.
  const double * effort = nullptr;
  /// Motion: positions, rad or m; velocities and accelerations that nobody gives count as 0.
  const double * q = nullptr, * qd = nullptr, * qdd = nullptr;
  /// Time since it was given, s.
  double age = 0.0;
};

/// Return the inertial parameters about a link's origin (Craig 6.26, the parallel-axis theorem) of a payload: mass m,
/// centre of mass c, and ixx, ixy, ixz, iyy, iyz, izz about it, in the link's frame, kg, m and kg m^2. None where no body
/// has them: a number is not finite, or mass is negative somewhere, or farther from the centre than 1 m on average.
inline std::optional<std::array<double, 10>> payload_parameters(
  double m, const std::array<double, 3> & c, const std::array<double, 6> & I) noexcept
{
  const double x = c[0], y = c[1], z = c[2];
  const std::array<double, 10> parameters = {m, m * x, m * y, m * z, I[0] + m * (y * y + z * z), I[1] - m * x * y,
    I[3] + m * (x * x + z * z), I[2] - m * x * z, I[4] - m * y * z, I[5] + m * (x * x + y * y)};
  const bool finite = std::all_of(parameters.begin(), parameters.end(), [](double p) {return std::isfinite(p);});
  // Second moments of the mass, as parts of their sum; no principal minor of theirs is negative.
  const double sum = (I[0] + I[3] + I[5]) / 2.0, s = sum > 0.0 ? sum : 1.0;
  const double X = (sum - I[0]) / s, Y = (sum - I[3]) / s, Z = (sum - I[5]) / s;
  const double xy = -I[1] / s, xz = -I[2] / s, yz = -I[4] / s;
  const double least = std::min({X, Y, Z, X * Y - xy * xy, X * Z - xz * xz, Y * Z - yz * yz,
    X * (Y * Z - yz * yz) - xy * (xy * Z - yz * xz) + xz * (xy * yz - Y * xz)});
  if (!finite || m < 0.0 || !(least > -1e-3) || !(sum >= 0.0 && sum <= m)) {return std::nullopt;}
  return parameters;
}

class ArmHolder
{
public:
  enum class State
  {
    follows,  // a reference
    holds,    // the arm where it came to rest, or its weight alone, for want of a reference
    stopped,  // a joint was too fast, or beyond its range; until a tick without reference
    blind     // no state came for so long that nothing can be promised: the caller should end
  };

  /// Return one for a tape; none, and why, where the tape lacks what the law needs.
  static std::optional<ArmHolder> make(Tape tape, const HolderSettings & settings, std::string & why)
  {
    const std::size_t n = tape.limits.size();
    why = tape.lacks({{"q", n}, {"qd", n}, {"qdd", n}, {"payload", 10}}, {{"effort", n}, {"gravity", n}});
    if (tape.joints.size() != n) {why = "a joint of the tape has not one degree of freedom";}
    for (std::size_t i = 0; i < n && why.empty(); i++) {
      const JointLimits & limit = tape.limits[i];
      if (!(limit.lower <= limit.upper && limit.velocity > 0.0 && limit.effort > 0.0)) {
        why = "joint '" + tape.joints[i] + "' has no range, velocity or effort: see its <limit> in the URDF";
      }
    }
    if (!why.empty()) {return std::nullopt;}
    return ArmHolder(std::move(tape), settings);
  }

  /// Set what the tape's link carries, see payload_parameters(); it takes effect over `payload_time`.
  void set_payload(const std::array<double, 10> & parameters) noexcept
  {
    std::copy_n(payload_, 10, payload_from_.begin());
    payload_to_ = parameters;
    share_ = 0.0;
  }

  /// Begin anew with the next tick, as after a pause in which others moved the arm.
  void reset() noexcept {begun_ = false;}

  /// Return the efforts of the joints, N m or N.
  ///
  /// dt: time since the last tick, s; q, qd: measured positions and velocities.
  const std::vector<double> & update(double dt, const double * q, const double * qd, const Reference & reference)
  noexcept
  {
    dt = dt > 0.0 ? std::min(dt, settings_.timeout) : 0.0;
    const bool seen = are_given(q) && are_given(qd);
    unseen_ = seen ? 0.0 : unseen_ + dt;
    if (!seen) {
      state_ = unseen_ > settings_.timeout ? State::blind : state_;
      return effort_;
    }
    believe(dt, q, qd);
    decide(q, reference);
    ramp_payload(dt);
    if (is_held()) {
      hold(dt);
    } else if (state_ == State::holds) {
      let_go(q);
    } else if (reference.q) {
      follow_motion(reference);
    } else {
      follow_effort();
    }
    compute(q);
    const bool beyond_gravity = state_ == State::follows && !reference.q;
    if (!beyond_gravity) {relieve();}
    for (std::size_t i = 0; i < n_; i++) {
      effort_[i] = limited(i, beyond_gravity ? gravity_[i] + reference.effort[i] : whole_[i], dt);
    }
    begun_ = true;
    return effort_;
  }

  State state() const noexcept {return state_;}
  /// The velocities of the last tick with a state, as far as positions show them.
  const std::vector<double> & velocities() const noexcept {return velocity_;}
  /// The payload as it counts now: 10 inertial parameters.
  const double * payload() const noexcept {return payload_;}
  std::size_t size() const noexcept {return n_;}
  const Tape & tape() const noexcept {return *tape_;}

private:
  ArmHolder(Tape tape, const HolderSettings & settings)
  : settings_(settings), tape_(std::make_unique<Tape>(std::move(tape))), limits_(tape_->limits), n_(limits_.size()),
    target_(n_), effort_(n_), q_before_(n_), rate_(n_), velocity_(n_),
    q_(tape_->input("q", n_)), qd_(tape_->input("qd", n_)), qdd_(tape_->input("qdd", n_)),
    payload_(tape_->input("payload", 10)), whole_(tape_->output("effort", n_)), gravity_(tape_->output("gravity", n_))
  {
    std::copy_n(payload_, 10, payload_from_.begin());
    payload_to_ = payload_from_;
  }

  /// Where a joint should be, and how it should move there.
  struct Target
  {
    double q = 0.0, qd = 0.0, qdd = 0.0;
    bool here = true;  // the position does not matter
  };

  static bool is_given(double x) noexcept {return std::fabs(x) < LARGEST;}

  bool are_given(const double * numbers) const noexcept {return std::all_of(numbers, numbers + n_, is_given);}

  bool given(const Reference & asked) const noexcept
  {
    if (!(asked.age <= settings_.timeout)) {return false;}
    const double * needed = asked.q ? asked.q : asked.effort;
    return needed && are_given(needed);
  }

  /// Take velocities as far as positions show them: one that is wrong, for a tick, must neither drive nor stop the arm.
  void believe(double dt, const double * q, const double * qd) noexcept
  {
    for (std::size_t i = 0; i < n_; i++) {
      if (!begun_) {  // a joint that is beyond its range is not pulled back
        rate_[i] = 0.0;
        limits_[i].lower = std::min(tape_->limits[i].lower, q[i]);
        limits_[i].upper = std::max(tape_->limits[i].upper, q[i]);
      } else if (dt > 0.0) {
        rate_[i] += dt / (dt + RATE_TIME) * ((q[i] - q_before_[i]) / dt - rate_[i]);
      }
      q_before_[i] = q[i];
      const double most = std::fabs(rate_[i]) + limits_[i].velocity;
      velocity_[i] = std::clamp(qd[i], -most, most);
    }
  }

  /// Whether a joint is faster than it may be, or leaves its range, as no motion is followed.
  bool runs_away(const double * q, bool moved) const noexcept
  {
    for (std::size_t i = 0; i < n_; i++) {
      const JointLimits & limit = limits_[i];
      if (std::fabs(velocity_[i]) > (1.0 + settings_.speed_margin) * limit.velocity) {return true;}
      if (moved) {continue;}
      if ((q[i] > limit.upper && velocity_[i] > 0.0) || (q[i] < limit.lower && velocity_[i] < 0.0)) {return true;}
    }
    return false;
  }

  bool is_held() const noexcept {return state_ == State::stopped || (state_ == State::holds && settings_.hold);}

  void decide(const double * q, const Reference & reference) noexcept
  {
    const bool held = begun_ && is_held(), asked = given(reference);
    if (runs_away(q, asked && reference.q) || (begun_ && state_ == State::stopped && asked)) {
      state_ = State::stopped;
    } else {
      state_ = asked ? State::follows : State::holds;
    }
    if (!held && is_held()) {  // from where and as fast as it is, as far as positions show that
      for (std::size_t i = 0; i < n_; i++) {
        const double most = std::min(std::fabs(rate_[i]), limits_[i].velocity);
        target_[i] = {q[i], std::clamp(velocity_[i], -most, most), 0.0, false};
      }
    }
  }

  void ramp_payload(double dt) noexcept
  {
    share_ = std::min(1.0, share_ + dt / settings_.payload_time);
    for (std::size_t k = 0; k < 10; k++) {
      payload_[k] = payload_from_[k] + share_ * (payload_to_[k] - payload_from_[k]);
    }
  }

  static double given_or_zero(const double * numbers, std::size_t i) noexcept
  {
    return numbers && is_given(numbers[i]) ? numbers[i] : 0.0;
  }

  void follow_motion(const Reference & asked) noexcept
  {
    for (std::size_t i = 0; i < n_; i++) {
      const double q = std::clamp(asked.q[i], limits_[i].lower, limits_[i].upper);
      const bool within = q == asked.q[i];
      target_[i] = {q, within ? given_or_zero(asked.qd, i) : 0.0, within ? given_or_zero(asked.qdd, i) : 0.0, false};
    }
  }

  void follow_effort() noexcept {std::fill(target_.begin(), target_.end(), Target{});}

  /// The arm comes to rest as fast as its position control can, and stays there.
  void hold(double dt) noexcept
  {
    const double w = settings_.bandwidth, kept = std::exp(-w * dt);
    for (std::size_t i = 0; i < n_; i++) {
      Target & to = target_[i];
      to.q = std::clamp(to.q + to.qd * (1.0 - kept) / w, limits_[i].lower, limits_[i].upper);
      to.qd *= kept;
      to.qdd = -w * to.qd;
    }
  }

  void let_go(const double * q) noexcept
  {
    for (std::size_t i = 0; i < n_; i++) {target_[i] = {q[i], 0.0, -settings_.damping * velocity_[i], true};}
  }

  /// Inverse dynamics of the acceleration that brings each joint to its target (Craig 10.17).
  void compute(const double * q) noexcept
  {
    const double w = settings_.bandwidth;
    for (std::size_t i = 0; i < n_; i++) {
      const Target & to = target_[i];
      q_[i] = q[i];
      qd_[i] = to.qd;
      qdd_[i] = to.qdd + (to.here ? 0.0 : w * w * (to.q - q[i]) + 2.0 * w * (to.qd - velocity_[i]));
    }
    tape_->evaluate();
  }

  /// Let a joint that lacks effort move as it must, and give the others the efforts for that: with those for the motion
  /// that was asked for it would drive them, and they it.
  void relieve() noexcept
  {
    for (std::size_t rounds = 2 * n_; rounds > 0; rounds--) {
      std::size_t weak = n_;
      double most = 1.0 + 1e-9;
      for (std::size_t i = 0; i < n_; i++) {
        if (const double part = std::fabs(whole_[i]) / limits_[i].effort; part > most) {most = part, weak = i;}
      }
      if (weak == n_) {return;}
      const double effort = whole_[weak], lacks = std::copysign(limits_[weak].effort, effort) - effort;
      qdd_[weak] += 1.0;
      tape_->evaluate();
      const double inertia = whole_[weak] - effort;  // efforts are linear in accelerations
      qdd_[weak] += (inertia > 0.0 ? lacks / inertia : 0.0) - 1.0;
      tape_->evaluate();
      if (!(inertia > 0.0)) {return;}  // it moves nothing, so that no acceleration changes its effort
    }
  }

  /// What a reference asks for changes gradually. What brakes and holds is there at once.
  double limited(std::size_t i, double effort, double dt) const noexcept
  {
    const double limit = limits_[i].effort;
    if (begun_ && state_ == State::follows && std::isfinite(limit)) {
      const double step = limit * dt / settings_.slew_time;
      effort = std::clamp(effort, effort_[i] - step, effort_[i] + step);
    }
    return std::clamp(effort, -limit, limit);
  }

  HolderSettings settings_;
  std::unique_ptr<Tape> tape_;              // pointers to its numbers stay right where this is moved
  std::vector<JointLimits> limits_;  // ranges with where the arm began
  std::size_t n_;
  std::vector<Target> target_;
  std::vector<double> effort_;
  std::vector<double> q_before_, rate_, velocity_;  // rates are filtered differences of positions
  double * q_, * qd_, * qdd_, * payload_;      // inputs of the tape
  const double * whole_, * gravity_;           // outputs of the tape
  std::array<double, 10> payload_from_, payload_to_;
  double share_ = 1.0;                         // of the payload that is in effect
  double unseen_ = 0.0;                        // time without a state
  State state_ = State::holds;
  bool begun_ = false;
};

}  // namespace ros2_dyn
