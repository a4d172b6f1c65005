// SPDX-License-Identifier: Apache-2.0
// External efforts of the joints, and the wrench at the tip, from efforts alone: a force sensor without a sensor.
//
// Source: De Luca and Mattone 2005. Needs C++17 and tape.hpp. Making one allocates; update() allocates nothing.
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

/// Observer r = K (p - integral of (tau + C^T qd - g - friction + r)) of the external efforts.
class MomentumObserver
{
public:
  /// Return one of a bandwidth K, 1/s; none, and why, where the tape lacks what it needs.
  static std::optional<MomentumObserver> make(Tape tape, double bandwidth, std::string & why)
  {
    const std::size_t n = tape.limits.size();
    why = tape.lacks({{"q", n}, {"qd", n}}, {{"momentum", n}, {"coriolis_transpose_qd", n}, {"gravity", n}, {"friction", n},
      {"jacobian", 6 * n}, {"pose", 16}});
    if (!why.empty()) {return std::nullopt;}
    return MomentumObserver(std::move(tape), bandwidth);
  }

  /// Begin anew with the next sample.
  void reset() noexcept {begun_ = false;}

  /// Take a sample, dt seconds after the last: positions, velocities, and the motors' efforts, N m or N.
  ///
  /// payload: 10 inertial parameters of what the tape's link carries; null: as in the tape.
  void update(double dt, const double * q, const double * qd, const double * effort, const double * payload) noexcept
  {
    std::copy_n(q, n_, q_);
    std::copy_n(qd, n_, qd_);
    if (payload && payload_) {std::copy_n(payload, 10, payload_);}
    tape_->evaluate();
    const bool goes_on = begun_ && dt > 0.0;
    const double share = 1.0 - std::exp(-bandwidth_ * dt);
    for (std::size_t i = 0; i < n_; i++) {
      const double rate = effort[i] + coriolis_[i] - gravity_[i] - friction_[i];
      const double r = external_[i] +
        share * ((momentum_[i] - last_momentum_[i]) / dt - (rate + last_rate_[i]) / 2.0 - external_[i]);
      external_[i] = goes_on && std::isfinite(r) ? r : 0.0;
      last_momentum_[i] = momentum_[i];
      last_rate_[i] = rate;
    }
    begun_ = true;
  }

  /// External efforts of the joints: positive where the surroundings push a joint in its positive direction.
  const std::vector<double> & external() const noexcept {return external_;}

  /// Return [force; moment] of the surroundings on the tape's link, at its origin and in its axes, by damped least
  /// squares: right where the only contact is there, and small in directions that the joints do not feel.
  std::array<double, 6> wrench(double damping = 0.01) const noexcept
  {
    std::array<std::array<double, 6>, 6> A{};
    std::array<double, 6> x{};
    for (std::size_t i = 0; i < 6; i++) {
      for (std::size_t j = 0; j <= i; j++) {
        for (std::size_t k = 0; k < n_; k++) {A[i][j] += jacobian_[i * n_ + k] * jacobian_[j * n_ + k];}
      }
      A[i][i] += damping * damping;
      for (std::size_t k = 0; k < n_; k++) {x[i] += jacobian_[i * n_ + k] * external_[k];}
    }
    for (std::size_t i = 0; i < 6; i++) {  // Cholesky: A = L L^T, in its place; then L y = x, L^T F = y
      for (std::size_t j = 0; j <= i; j++) {
        for (std::size_t k = 0; k < j; k++) {A[i][j] -= A[i][k] * A[j][k];}
        A[i][j] = i == j ? std::sqrt(A[i][i]) : A[i][j] / A[j][j];
      }
      for (std::size_t k = 0; k < i; k++) {x[i] -= A[i][k] * x[k];}
      x[i] /= A[i][i];
    }
    for (std::size_t i = 6; i-- > 0; ) {
      for (std::size_t k = i + 1; k < 6; k++) {x[i] -= A[k][i] * x[k];}
      x[i] /= A[i][i];
    }
    std::array<double, 6> turned{};  // into the axes of the link, whose pose has R in its upper left
    for (std::size_t i = 0; i < 6; i++) {
      for (std::size_t k = 0; k < 3; k++) {turned[i] += pose_[4 * k + i % 3] * x[i / 3 * 3 + k];}
    }
    return turned;
  }

private:
  MomentumObserver(Tape tape, double bandwidth)
  : tape_(std::make_unique<Tape>(std::move(tape))), bandwidth_(bandwidth), n_(tape_->limits.size()), external_(n_),
    last_momentum_(n_), last_rate_(n_), q_(tape_->input("q", n_)), qd_(tape_->input("qd", n_)),
    payload_(tape_->input("payload", 10)), momentum_(tape_->output("momentum", n_)),
    coriolis_(tape_->output("coriolis_transpose_qd", n_)), gravity_(tape_->output("gravity", n_)),
    friction_(tape_->output("friction", n_)), jacobian_(tape_->output("jacobian", 6 * n_)), pose_(tape_->output("pose", 16)) {}

  std::unique_ptr<Tape> tape_;  // pointers to its numbers stay right where this is moved
  double bandwidth_;
  std::size_t n_;
  std::vector<double> external_, last_momentum_, last_rate_;
  double * q_, * qd_, * payload_;
  const double * momentum_, * coriolis_, * gravity_, * friction_, * jacobian_, * pose_;
  bool begun_ = false;
};

}  // namespace ros2_dyn
