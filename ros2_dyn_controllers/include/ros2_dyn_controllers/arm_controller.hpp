// SPDX-License-Identifier: Apache-2.0
// An ArmHolder in the controller manager: joint states in, efforts out, references from a chain or a topic.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller_interface/chainable_controller_interface.hpp"
#include "controller_interface/version.h"
#include "geometry_msgs/msg/inertia_stamped.hpp"
#include "rclcpp/subscription.hpp"
#include "realtime_tools/realtime_buffer.hpp"
#include "std_msgs/msg/float64_multi_array.hpp"
#include "std_msgs/msg/u_int8_multi_array.hpp"

#include "ros2_dyn_controllers/arm_holder.hpp"
#include "ros2_dyn_controllers/observer.hpp"
#include "ros2_dyn_controllers/ros2_dyn_controllers_parameters.hpp"

namespace ros2_dyn
{

/// The base of both controllers. They differ in the kinds of their references; there is one of each for each joint.
class ArmController : public controller_interface::ChainableControllerInterface
{
public:
  using CallbackReturn = controller_interface::CallbackReturn;
  using Result = controller_interface::return_type;

  explicit ArmController(std::vector<std::string> kinds) : kinds_(std::move(kinds)) {}
  CallbackReturn on_init() override;
  CallbackReturn on_configure(const rclcpp_lifecycle::State & previous) override;
  CallbackReturn on_activate(const rclcpp_lifecycle::State & previous) override;
  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;

protected:
  Result update_and_write_commands(const rclcpp::Time & time, const rclcpp::Duration & period) override;
#if CONTROLLER_INTERFACE_VERSION_MAJOR < 3  // Humble
  std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() override;
  Result update_reference_from_subscribers() override;
#else
  std::vector<hardware_interface::CommandInterface::SharedPtr> on_export_reference_interfaces_list() override;
  std::vector<hardware_interface::StateInterface::SharedPtr> on_export_state_interfaces_list() override;
  Result update_reference_from_subscribers(const rclcpp::Time & time, const rclcpp::Duration & period) override;
#endif

private:
  using Bytes = std_msgs::msg::UInt8MultiArray;
  using Commands = std_msgs::msg::Float64MultiArray;
  template<typename Interface>
  using Ordered = std::vector<std::reference_wrapper<Interface>>;

  std::optional<Tape> read_tape(const ros2_dyn_controllers::Params & chosen, std::string & why);
  std::string load(const ros2_dyn_controllers::Params & chosen);
  void on_commands(const std::shared_ptr<Commands> message);
  void on_payload(const geometry_msgs::msg::InertiaStamped & message);
  bool can_carry(const std::array<double, 10> & payload);
  std::vector<std::string> names(const std::vector<std::string> & kinds) const;
  void take_references(double dt);
  void read_states();
  Result carry(double dt);
  void observe(double dt);
  double chained_reference(std::size_t k) const;
  void forget_chained_references();
  void export_external(const std::vector<double> & external, const std::array<double, 6> & wrench);

  std::shared_ptr<ros2_dyn_controllers::ParamListener> parameters_;
  std::optional<ArmHolder> holder_;
  std::optional<MomentumObserver> observer_;
  std::vector<std::string> kinds_, joints_;
  std::vector<double> q_, qd_, exerted_, references_;
  std::vector<std::atomic<double>> seen_;  // positions, for those who are not in the loop
  std::optional<Tape> weighed_;            // a tape of theirs
  std::mutex weighing_;
  Ordered<hardware_interface::LoanedStateInterface> positions_, velocities_, measured_efforts_;
  Ordered<hardware_interface::LoanedCommandInterface> efforts_;
  rclcpp::Subscription<Commands>::SharedPtr commands_;
  rclcpp::Subscription<geometry_msgs::msg::InertiaStamped>::SharedPtr payloads_;
  /// A message, and how many have come. What is late is counted in ticks: clocks of topics and of the loop may differ.
  struct Counted
  {
    std::shared_ptr<Commands> message;
    std::uint64_t number = 0;
  };
  realtime_tools::RealtimeBuffer<Counted> newest_;
  std::uint64_t received_ = 0, taken_ = 0;
  struct Load
  {
    std::array<double, 10> parameters{};
    std::uint64_t number = 0;
  };
  realtime_tools::RealtimeBuffer<Load> newest_load_;
  std::uint64_t loads_ = 0, carried_ = 0;
  double age_ = 0.0;  // of the references, s
};

/// Efforts in, efforts plus gravity out. Without them the arm is held, or floats.
struct GravityController : ArmController
{
  GravityController() : ArmController({"effort"}) {}
};

/// Positions, velocities and accelerations in, efforts of inverse dynamics out. Without them the arm is held.
struct DynamicsController : ArmController
{
  DynamicsController() : ArmController({"position", "velocity", "acceleration"}) {}
};

}  // namespace ros2_dyn
