// SPDX-License-Identifier: Apache-2.0
// arm_holder.hpp as a library with a C interface, which counts what is allocated.
#include <cstring>

#include "count_allocations.hpp"
#include "ros2_dyn_controllers/arm_holder.hpp"

using ros2_dyn::ArmHolder;

extern "C"
{

ArmHolder * holder_make(const std::uint8_t * data, std::size_t size, const double * settings, char * why)
{
  std::string text;
  auto tape = ros2_dyn::Tape::load(data, size, text);
  std::optional<ArmHolder> holder;
  if (tape) {
    const ros2_dyn::HolderSettings chosen{settings[0], settings[1] != 0.0, settings[2], settings[3], settings[4],
      settings[5], settings[6]};
    holder = ArmHolder::make(std::move(*tape), chosen, text);
  }
  std::strncpy(why, text.c_str(), 199);
  return holder ? new ArmHolder(std::move(*holder)) : nullptr;
}

std::size_t allocations() {return allocated;}

void holder_free(ArmHolder * holder) {delete holder;}

/// Take mass, centre of mass, and inertia about it; return whether they are any.
bool holder_set_payload(ArmHolder * holder, const double * p)
{
  const auto parameters =
    ros2_dyn::payload_parameters(p[0], {p[1], p[2], p[3]}, {p[4], p[5], p[6], p[7], p[8], p[9]});
  if (parameters) {holder->set_payload(*parameters);}
  return parameters.has_value();
}

void holder_reset(ArmHolder * holder) {holder->reset();}

/// Write the efforts, and return the state.
int holder_update(
  ArmHolder * holder, double dt, const double * q, const double * qd, const double * effort, const double * motion,
  double age, double * out)
{
  const std::size_t n = holder->size();
  ros2_dyn::Reference reference;
  reference.effort = effort;
  if (motion) {
    reference.q = motion;
    reference.qd = motion + n;
    reference.qdd = motion + 2 * n;
  }
  reference.age = age;
  const auto & efforts = holder->update(dt, q, qd, reference);
  std::copy(efforts.begin(), efforts.end(), out);
  return static_cast<int>(holder->state());
}

}
