// SPDX-License-Identifier: Apache-2.0
#include "ros2_dyn_controllers/arm_controller.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "controller_interface/helpers.hpp"
#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "rclcpp/logging.hpp"
#include "rclcpp/wait_for_message.hpp"

namespace ros2_dyn
{

using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
constexpr double NONE = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<const char *, 6> WRENCH = {"force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z"};

namespace
{

template<typename Interface>
double value_of(const Interface & interface)
{
#if CONTROLLER_INTERFACE_VERSION_MAJOR < 3  // Humble
  return interface.get_value();
#else
  return interface.template get_optional<double>().value_or(NONE);
#endif
}

}  // namespace

ArmController::CallbackReturn ArmController::on_init()
{
  try {
    parameters_ = std::make_shared<ros2_dyn_controllers::ParamListener>(get_node());
  } catch (const std::exception & error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

ArmController::CallbackReturn ArmController::on_configure(const rclcpp_lifecycle::State &)
{
  commands_.reset();
  payloads_.reset();
  const std::lock_guard<std::mutex> lock(weighing_);  // a message of an earlier configuration may be underway
  const auto chosen = parameters_->get_params();
  if (const std::string problem = load(chosen); !problem.empty()) {
    const std::string & source = chosen.tape_topic.empty() ? chosen.tape : chosen.tape_topic;
    RCLCPP_ERROR(get_node()->get_logger(), "tape '%s': %s", source.c_str(), problem.c_str());
    return CallbackReturn::FAILURE;
  }
  joints_ = holder_->tape().joints;
  q_.assign(joints_.size(), NONE);
  qd_.assign(joints_.size(), NONE);
  seen_ = std::vector<std::atomic<double>>(joints_.size());
  std::fill(seen_.begin(), seen_.end(), NONE);
  exerted_.assign(joints_.size(), 0.0);
  references_.assign(joints_.size() * kinds_.size(), NONE);
  carried_ = 0;  // the new holder is told of the payload again
  using std::placeholders::_1;
  commands_ = get_node()->create_subscription<Commands>(
    "~/commands", rclcpp::SystemDefaultsQoS(), std::bind(&ArmController::on_commands, this, _1));
  payloads_ = get_node()->create_subscription<geometry_msgs::msg::InertiaStamped>(
    "~/payload", rclcpp::QoS(1), std::bind(&ArmController::on_payload, this, _1));
  std::string all;
  for (const auto & joint : joints_) {all += (all.empty() ? "" : ", ") + joint;}
  RCLCPP_INFO(get_node()->get_logger(), "carries '%s' by its joints %s", holder_->tape().robot.c_str(), all.c_str());
  return CallbackReturn::SUCCESS;
}

void ArmController::on_commands(const std::shared_ptr<Commands> message)
{
  if (message->data.size() == references_.size()) {
    newest_.writeFromNonRT({message, ++received_});
  } else {
    RCLCPP_ERROR_THROTTLE(
      get_node()->get_logger(), *get_node()->get_clock(), 1000, "~/commands: expected %zu numbers, got %zu",
      references_.size(), message->data.size());
  }
}

void ArmController::on_payload(const geometry_msgs::msg::InertiaStamped & message)
{
  const std::lock_guard<std::mutex> lock(weighing_);
  const auto & link = message.header.frame_id;
  const auto & load = message.inertia;
  const auto parameters = payload_parameters(
    load.m, {load.com.x, load.com.y, load.com.z}, {load.ixx, load.ixy, load.ixz, load.iyy, load.iyz, load.izz});
  if (!link.empty() && link != weighed_->link) {
    RCLCPP_ERROR(
      get_node()->get_logger(), "~/payload: it is on '%s', and the tape knows those on '%s'", link.c_str(),
      weighed_->link.c_str());
  } else if (!parameters) {
    RCLCPP_ERROR(get_node()->get_logger(), "~/payload: no body has its mass and inertia");
  } else if (can_carry(*parameters)) {
    newest_load_.writeFromNonRT({*parameters, ++loads_});
    RCLCPP_INFO(get_node()->get_logger(), "carries a payload of %g kg", load.m);
  }
}

/// Return whether the joints can carry a payload where the arm is, as far as that is known; say which one cannot.
bool ArmController::can_carry(const std::array<double, 10> & payload)
{
  if (payload[0] == 0.0) {return true;}
  const std::size_t n = joints_.size();
  std::copy(seen_.begin(), seen_.end(), weighed_->input("q", n));
  std::copy(payload.begin(), payload.end(), weighed_->input("payload", payload.size()));
  weighed_->evaluate();
  const double * const gravity = weighed_->output("gravity", n);
  for (std::size_t i = 0; i < n; i++) {
    if (std::fabs(gravity[i]) > weighed_->limits[i].effort) {
      RCLCPP_ERROR(
        get_node()->get_logger(), "~/payload: joint '%s' has not the effort to carry it here", joints_[i].c_str());
      return false;
    }
  }
  return true;
}

/// Return the tape of the file or of the topic that the parameters name; none, and `why`.
std::optional<Tape> ArmController::read_tape(const ros2_dyn_controllers::Params & chosen, std::string & why)
{
  if (chosen.tape_topic.empty()) {
    if (std::error_code ignored; !std::filesystem::is_regular_file(chosen.tape, ignored)) {
      why = "there is no such file; name one as `tape`, by its whole path, or a topic as `tape_topic`";
      return std::nullopt;
    }
    std::ifstream file(chosen.tape, std::ios::binary);
    const std::vector<char> text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    return Tape::load(bytes.data(), bytes.size(), why);
  }
  rclcpp::SubscriptionOptions options;  // in a group of its own, which no executor spins meanwhile
  options.callback_group = get_node()->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false);
  const auto subscription = get_node()->create_subscription<Bytes>(
    chosen.tape_topic, rclcpp::QoS(1).transient_local(), [](const std::shared_ptr<const Bytes>) {}, options);
  Bytes message;
  const auto context = get_node()->get_node_base_interface()->get_context();
  if (!rclcpp::wait_for_message(message, subscription, context, std::chrono::seconds(5))) {
    why = "nothing came on it within 5 s; does a node publish it?";
    return std::nullopt;
  }
  return Tape::load(message.data.data(), message.data.size(), why);
}

/// Load the tape, and make the holder; return why not, or nothing.
std::string ArmController::load(const ros2_dyn_controllers::Params & chosen)
{
  std::string why;
  auto tape = read_tape(chosen, why);
  if (!tape) {return why;}
#if CONTROLLER_INTERFACE_VERSION_MAJOR < 3  // Humble
  const std::string description = get_node()->has_parameter("robot_description") ?
    get_node()->get_parameter("robot_description").as_string() : "";
#else
  const std::string & description = get_robot_description();
#endif
  if (tape->description && !description.empty() && tape->description != description_hash(description)) {
    return "it was made from another description than robot_description; export it again from that";
  }
  const HolderSettings settings{chosen.bandwidth, chosen.hold, chosen.damping, chosen.slew_time, chosen.payload_time,
    chosen.timeout, chosen.speed_margin};
  observer_.reset();
  if (chosen.force_sensor) {
    observer_ = MomentumObserver::make(*tape, chosen.observer_bandwidth, why);
    if (!observer_) {return why;}
  }
  auto weighed = *tape;
  holder_ = ArmHolder::make(std::move(*tape), settings, why);
  if (holder_) {weighed_ = std::move(weighed);}
  return why;
}

/// Return the names of interfaces of some kinds of all joints, kind after kind.
std::vector<std::string> ArmController::names(const std::vector<std::string> & kinds) const
{
  std::vector<std::string> all;
  for (const auto & kind : kinds) {
    for (const auto & joint : joints_) {all.push_back(joint + "/" + kind);}
  }
  return all;
}

InterfaceConfiguration ArmController::command_interface_configuration() const
{
  return {interface_configuration_type::INDIVIDUAL, names({"effort"})};
}

InterfaceConfiguration ArmController::state_interface_configuration() const
{
  const bool measured = parameters_->get_params().measured_effort;
  const std::vector<std::string> kinds = {"position", "velocity"}, more = {"position", "velocity", "effort"};
  return {interface_configuration_type::INDIVIDUAL, names(measured ? more : kinds)};
}

ArmController::CallbackReturn ArmController::on_activate(const rclcpp_lifecycle::State &)
{
  using namespace hardware_interface;
  positions_.clear();
  velocities_.clear();
  measured_efforts_.clear();
  efforts_.clear();
  const auto in_order = [&](auto & interfaces, const char * kind, auto & ordered) {
      return controller_interface::get_ordered_interfaces(interfaces, joints_, kind, ordered);
    };
  if (!in_order(state_interfaces_, HW_IF_POSITION, positions_) ||
    !in_order(state_interfaces_, HW_IF_VELOCITY, velocities_) ||
    !in_order(command_interfaces_, HW_IF_EFFORT, efforts_) ||
    (parameters_->get_params().measured_effort && !in_order(state_interfaces_, HW_IF_EFFORT, measured_efforts_)))
  {
    RCLCPP_ERROR(get_node()->get_logger(), "a joint of the tape lacks position, velocity or effort");
    return CallbackReturn::FAILURE;
  }
  std::fill(references_.begin(), references_.end(), NONE);
  taken_ = newest_.readFromNonRT()->number;  // what came before counts no more
  forget_chained_references();
  holder_->reset();
  if (observer_) {observer_->reset();}
  read_states();
  const auto given = [](double x) {return std::fabs(x) < LARGEST;};
  if (!std::all_of(q_.begin(), q_.end(), given) || !std::all_of(qd_.begin(), qd_.end(), given)) {
    RCLCPP_ERROR(get_node()->get_logger(), "a position or velocity is no number; is the hardware active?");
    return CallbackReturn::FAILURE;
  }
  const std::lock_guard<std::mutex> lock(weighing_);  // messages come meanwhile
  if (const Load load = *newest_load_.readFromNonRT(); load.number != carried_ && !can_carry(load.parameters)) {
    carried_ = load.number;  // it came before the arm was seen, and is left out
  }
  (void)carry(0.0);  // before the first tick the hardware may act on what it is commanded already
  return CallbackReturn::SUCCESS;
}

#if CONTROLLER_INTERFACE_VERSION_MAJOR < 3  // Humble

std::vector<hardware_interface::CommandInterface> ArmController::on_export_reference_interfaces()
{
  std::vector<hardware_interface::CommandInterface> exported;
  reference_interfaces_.assign(references_.size(), NONE);
  for (const auto & name : names(kinds_)) {
    exported.emplace_back(get_node()->get_name(), name, &reference_interfaces_[exported.size()]);
  }
  return exported;
}

ArmController::Result ArmController::update_reference_from_subscribers() {return Result::OK;}

double ArmController::chained_reference(std::size_t k) const {return reference_interfaces_[k];}

void ArmController::forget_chained_references()
{
  std::fill(reference_interfaces_.begin(), reference_interfaces_.end(), NONE);
}

void ArmController::export_external(const std::vector<double> &, const std::array<double, 6> &) {}

#else

std::vector<hardware_interface::CommandInterface::SharedPtr> ArmController::on_export_reference_interfaces_list()
{
  std::vector<hardware_interface::CommandInterface::SharedPtr> exported;
  for (const auto & kind : kinds_) {
    for (const auto & joint : joints_) {
      const std::string prefix = std::string(get_node()->get_name()) + "/" + joint;
      exported.push_back(std::make_shared<hardware_interface::CommandInterface>(prefix, kind));
      (void)exported.back()->set_value(NONE);
    }
  }
  return exported;
}

ArmController::Result ArmController::update_reference_from_subscribers(const rclcpp::Time &, const rclcpp::Duration &)
{
  return Result::OK;
}

double ArmController::chained_reference(std::size_t k) const {return value_of(*ordered_exported_reference_interfaces_[k]);}

void ArmController::forget_chained_references()
{
  for (auto & each : ordered_exported_reference_interfaces_) {(void)each->set_value(NONE);}
}

std::vector<hardware_interface::StateInterface::SharedPtr> ArmController::on_export_state_interfaces_list()
{
  const std::string name = get_node()->get_name();
  std::vector<hardware_interface::StateInterface::SharedPtr> exported;
  if (!observer_) {return exported;}
  for (const char * part : WRENCH) {
    exported.push_back(std::make_shared<hardware_interface::StateInterface>(name, part));
  }
  for (const auto & joint : joints_) {
    exported.push_back(std::make_shared<hardware_interface::StateInterface>(name + "/" + joint, "external_effort"));
  }
  return exported;
}

void ArmController::export_external(const std::vector<double> & external, const std::array<double, 6> & wrench)
{
  const auto & states = ordered_exported_state_interfaces_;
  for (std::size_t i = 0; i < wrench.size(); i++) {(void)states[i]->set_value(wrench[i]);}
  for (std::size_t i = 0; i < external.size(); i++) {(void)states[wrench.size() + i]->set_value(external[i]);}
}

#endif

/// Take the references of the chain, or the newest of the topic; `dt`: time since the last tick, s.
void ArmController::take_references(double dt)
{
  if (is_in_chained_mode()) {
    for (std::size_t k = 0; k < references_.size(); k++) {references_[k] = chained_reference(k);}
    age_ = 0.0;
    return;
  }
  const Counted & newest = *newest_.readFromRT();
  age_ = newest.number == taken_ ? age_ + std::max(dt, 0.0) : 0.0;  // clocks may be set back
  if (newest.number != taken_) {
    std::copy(newest.message->data.begin(), newest.message->data.end(), references_.begin());
    taken_ = newest.number;
  }
}

ArmController::Result ArmController::update_and_write_commands(const rclcpp::Time &, const rclcpp::Duration & period)
{
  take_references(period.seconds());
  if (const Load & load = *newest_load_.readFromRT(); load.number != carried_) {
    holder_->set_payload(load.parameters);
    carried_ = load.number;
  }
  return carry(period.seconds());
}

/// Observe what acted since the last tick, `dt` seconds ago, and export it.
void ArmController::observe(double dt)
{
  for (std::size_t i = 0; i < measured_efforts_.size(); i++) {exerted_[i] = value_of(measured_efforts_[i].get());}
  observer_->update(dt, q_.data(), holder_->velocities().data(), exerted_.data(), holder_->payload());
  export_external(observer_->external(), observer_->wrench());
}

void ArmController::read_states()
{
  for (std::size_t i = 0; i < joints_.size(); i++) {
    seen_[i] = q_[i] = value_of(positions_[i].get());
    qd_[i] = value_of(velocities_[i].get());
  }
}

/// Write the efforts of this tick, `dt` seconds after the last.
ArmController::Result ArmController::carry(double dt)
{
  read_states();
  const double * const asked = references_.data();  // kind after kind
  const std::size_t n = joints_.size();
  const Reference reference = kinds_.size() == 1 ? Reference{asked, nullptr, nullptr, nullptr, age_} :
    Reference{nullptr, asked, asked + n, asked + 2 * n, age_};
  const auto & efforts = holder_->update(dt, q_.data(), qd_.data(), reference);
  if (observer_) {observe(dt);}
  for (std::size_t i = 0; i < efforts.size(); i++) {(void)efforts_[i].get().set_value(efforts[i]);}
  std::copy(efforts.begin(), efforts.end(), exerted_.begin());
  return holder_->state() == ArmHolder::State::blind ? Result::ERROR : Result::OK;
}

}  // namespace ros2_dyn

PLUGINLIB_EXPORT_CLASS(ros2_dyn::GravityController, controller_interface::ChainableControllerInterface)
PLUGINLIB_EXPORT_CLASS(ros2_dyn::DynamicsController, controller_interface::ChainableControllerInterface)
