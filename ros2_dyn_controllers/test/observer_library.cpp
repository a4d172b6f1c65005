// SPDX-License-Identifier: Apache-2.0
// observer.hpp as a library with a C interface.
#include <cstring>

#include "ros2_dyn_controllers/observer.hpp"

using ros2_dyn::MomentumObserver;

extern "C"
{

MomentumObserver * observer_make(const std::uint8_t * data, std::size_t size, double bandwidth, char * why)
{
  std::string text;
  auto tape = ros2_dyn::Tape::load(data, size, text);
  std::optional<MomentumObserver> observer;
  if (tape) {observer = MomentumObserver::make(std::move(*tape), bandwidth, text);}
  std::strncpy(why, text.c_str(), 199);
  return observer ? new MomentumObserver(std::move(*observer)) : nullptr;
}

void observer_free(MomentumObserver * observer) {delete observer;}

/// Write the external efforts, then the wrench.
void observer_update(
  MomentumObserver * observer, double dt, const double * q, const double * qd, const double * effort,
  const double * payload, double * out)
{
  observer->update(dt, q, qd, effort, payload);
  const auto & external = observer->external();
  const auto wrench = observer->wrench();
  std::copy(wrench.begin(), wrench.end(), std::copy(external.begin(), external.end(), out));
}

}
