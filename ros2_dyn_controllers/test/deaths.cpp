// SPDX-License-Identifier: Apache-2.0
// Deaths of whoever sends references, in virtual time: an arm follows references of some kind, at a random time they
// end, and what it does from then on is measured. The arm itself is another tape: its masses and friction are others.
//
// Arguments: tape of the holder, tape of the arm (output qdd, inputs q, qd and tau), friction as a part of the effort
// limits, number of deaths, seed, and who holds the arm then: "holder", or "nobody": the last efforts stay, as those of a
// forward_command_controller do. Prints for each kind of references its name, how many deaths, how many in motion, how
// many arms that were not at rest after 1.5 s, and the largest of: speed at the death, travel, speed and part of a
// velocity limit after it, and time to rest.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "ros2_dyn_controllers/arm_holder.hpp"

namespace
{
using Vector = std::vector<double>;

constexpr double STEP = 5e-4, PERIOD = 2e-3;          // of the simulation and of the controller, s
constexpr double LATE = 0.02;                         // age of references that come, at most, s
constexpr double SLIDES = 0.01;                       // speed from which friction is that of sliding, rad/s
constexpr double AFTER = 2.5, REST_TIME = 1.5, REST_SPEED = 0.05;  // s, s, rad/s
constexpr double LOST = 50.0;                         // speed of an arm that is simulated no further, rad/s
const std::array<const char *, 5> KINDS = {"hand", "spring", "force", "jumps", "motion"};

ros2_dyn::Tape load(const char * path)
{
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  std::string why;
  auto tape = ros2_dyn::Tape::load(bytes.data(), bytes.size(), why);
  if (!tape) {
    std::fprintf(stderr, "%s: %s\n", path, why.c_str());
    std::exit(1);
  }
  return std::move(*tape);
}

/// The largest of some numbers' sizes.
double largest(const Vector & x)
{
  double most = 0.0;
  for (const double each : x) {most = std::max(most, std::fabs(each));}
  return most;
}

/// The arm: rigid bodies, and joints that rub.
class Arm
{
public:
  Arm(const char * path, double friction)
  : q(), qd(), tape_(load(path)), n_(tape_.limits.size()), friction_(friction)
  {
    q.resize(n_);
    qd.resize(n_);
  }

  /// Velocities first, so that what oscillates gains no energy.
  void advance(const Vector & efforts)
  {
    for (std::size_t i = 0; i < n_; i++) {
      const double rub = friction_ * limits()[i].effort;
      tape_.input("tau", n_)[i] = efforts[i] - rub * (std::tanh(qd[i] / SLIDES) + 0.5 * qd[i]);
    }
    const double * acceleration = evaluate();
    for (std::size_t i = 0; i < n_; i++) {
      qd[i] += STEP * acceleration[i];
      q[i] += STEP * qd[i];
    }
  }

  /// The accelerations that efforts cause, beyond those without any, rad/s^2.
  Vector caused_by(const Vector & efforts)
  {
    Vector caused(n_);
    std::fill_n(tape_.input("tau", n_), n_, 0.0);
    std::copy_n(evaluate(), n_, caused.begin());
    std::copy_n(efforts.begin(), n_, tape_.input("tau", n_));
    const double * with = evaluate();
    for (std::size_t i = 0; i < n_; i++) {caused[i] = with[i] - caused[i];}
    return caused;
  }

  const std::vector<ros2_dyn::JointLimits> & limits() const {return tape_.limits;}
  Vector q, qd;

private:
  const double * evaluate()
  {
    std::copy_n(q.begin(), n_, tape_.input("q", n_));
    std::copy_n(qd.begin(), n_, tape_.input("qd", n_));
    tape_.evaluate();
    return tape_.output("qdd", n_);
  }

  ros2_dyn::Tape tape_;
  std::size_t n_;
  double friction_;
};

/// What was seen of one kind of references.
struct Seen
{
  std::size_t deaths = 0, moving = 0, restless = 0;
  double speed = 0.0, travel = 0.0, fastest = 0.0, share = 0.0, rest = 0.0;
};

class Trials
{
public:
  Trials(ros2_dyn::ArmHolder holder, Arm arm, bool held, unsigned seed)
  : holder_(std::move(holder)), arm_(std::move(arm)), held_(held), n_(arm_.q.size()), random_(seed), asked_(3 * n_),
    goal_(n_), push_(n_), none_(n_, 0.0), inertia_(n_), efforts_(n_)
  {}

  void play(std::size_t kind, Seen & seen)
  {
    begin(kind);
    const double death = uniform(0.2, 1.5), lets_go = death + uniform(0.0, 0.3);
    double t = 0.0;
    for (; t < death; t += PERIOD) {
      ask(kind, t);
      tick(kind == 0 ? push_ : none_, reference(kind, uniform(0.0, LATE)));
    }
    const Vector q = arm_.q;
    seen.deaths++;
    seen.moving += largest(arm_.qd) > 0.02;
    seen.speed = std::max(seen.speed, largest(arm_.qd));
    double moved = 0.0;
    for (; t < death + AFTER; t += PERIOD) {
      tick(kind == 0 && t < lets_go ? push_ : none_, reference(kind, t - death));
      for (std::size_t i = 0; i < n_; i++) {
        seen.travel = std::max(seen.travel, std::fabs(arm_.q[i] - q[i]));
        seen.share = std::max(seen.share, std::fabs(arm_.qd[i]) / arm_.limits()[i].velocity);
      }
      seen.fastest = std::max(seen.fastest, largest(arm_.qd));
      if (largest(arm_.qd) > REST_SPEED) {moved = t - death;}
      if (largest(arm_.qd) > LOST) {
        moved = AFTER;
        break;
      }
    }
    seen.rest = std::max(seen.rest, moved);
    seen.restless += moved > REST_TIME;
  }

private:
  double uniform(double low, double high) {return std::uniform_real_distribution<double>(low, high)(random_);}

  void begin(std::size_t kind)
  {
    for (std::size_t i = 0; i < n_; i++) {
      const double low = std::max(arm_.limits()[i].lower, -2.0), high = std::min(arm_.limits()[i].upper, 2.0);
      arm_.q[i] = goal_[i] = low + (high - low) * uniform(0.2, 0.8);
      arm_.qd[i] = 0.0;
    }
    holder_.reset();
    for (std::size_t i = 0; i < n_; i++) {
      Vector one(n_, 0.0);
      one[i] = 1.0;
      inertia_[i] = 1.0 / arm_.caused_by(one)[i];  // that a joint feels while the others are free
    }
    std::fill(asked_.begin(), asked_.end(), 0.0);
    bandwidth_ = uniform(3.0, 10.0);
    share_ = uniform(0.0, 0.5);
    changes_ = 0.0;
    tick(none_, {});
    push(uniform(0.5, 5.0));
    if (kind == 2) {std::copy(push_.begin(), push_.end(), asked_.begin());}
  }

  /// Push at the tip, in some direction, so that the joint that feels it most accelerates by so much, rad/s^2.
  void push(double acceleration)
  {
    const double * J = holder_.tape().output("jacobian", 6 * n_);  // three rows of rotation, then three of translation
    const std::array<double, 3> force = {uniform(-1.0, 1.0), uniform(-1.0, 1.0), uniform(-1.0, 1.0)};
    for (std::size_t i = 0; i < n_; i++) {
      push_[i] = 0.0;
      for (std::size_t k = 0; k < 3; k++) {push_[i] += J[(3 + k) * n_ + i] * force[k];}
    }
    const double most = largest(arm_.caused_by(push_));
    for (double & each : push_) {each *= acceleration / most;}
  }

  /// Take new references, as the modes, a trajectory or another program give them.
  void ask(std::size_t kind, double t)
  {
    const bool anew = t >= changes_;
    if (anew) {changes_ = t + uniform(0.01, kind == 3 ? 0.3 : 1.0);}
    for (std::size_t i = 0; i < n_; i++) {
      const auto & limit = arm_.limits()[i];
      if (kind == 1 || kind == 4) {
        if (anew) {goal_[i] = std::clamp(goal_[i] + uniform(-0.3, 0.3), limit.lower, limit.upper);}
      }
      if (kind == 1) {
        const double w = bandwidth_, most = 0.3 * limit.effort;
        const double spring = inertia_[i] * (w * w * (goal_[i] - arm_.q[i]) - 2.0 * w * arm_.qd[i]);
        asked_[i] = std::clamp(spring, -most, most);
      } else if (kind == 3 && anew) {
        asked_[i] = share_ * limit.effort * uniform(-1.0, 1.0);
      } else if (kind == 4) {
        asked_[i] = goal_[i];
        asked_[n_ + i] = asked_[2 * n_ + i] = 0.0;
      }
    }
  }

  ros2_dyn::Reference reference(std::size_t kind, double age) const
  {
    ros2_dyn::Reference given;
    given.effort = asked_.data();
    if (kind == 4) {given.q = asked_.data(), given.qd = given.q + n_, given.qdd = given.qd + n_;}
    given.age = age;
    return given;
  }

  void tick(const Vector & external, const ros2_dyn::Reference & given)
  {
    Vector q = arm_.q, qd = arm_.qd;
    for (std::size_t i = 0; i < n_; i++) {
      q[i] += 1e-5 * uniform(-1.0, 1.0);
      qd[i] += 1e-3 * arm_.limits()[i].velocity * uniform(-1.0, 1.0);
    }
    const Vector & found = holder_.update(PERIOD, q.data(), qd.data(), given);
    if (held_ || given.age <= LATE) {efforts_ = found;}
    Vector whole = efforts_;
    for (std::size_t i = 0; i < n_; i++) {whole[i] += external[i];}
    for (double t = 0.0; t < PERIOD - STEP / 2; t += STEP) {arm_.advance(whole);}
  }

  ros2_dyn::ArmHolder holder_;
  Arm arm_;
  bool held_;
  std::size_t n_;
  std::mt19937_64 random_;
  Vector asked_, goal_, push_, none_, inertia_, efforts_;
  double bandwidth_ = 0.0, share_ = 0.0, changes_ = 0.0;
};
}  // namespace

int main(int, char ** arguments)
{
  std::string why;
  auto holder = ros2_dyn::ArmHolder::make(load(arguments[1]), {}, why);
  if (!holder) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return 1;
  }
  const std::size_t total = static_cast<std::size_t>(std::atol(arguments[4]));
  Trials trials(
    std::move(*holder), Arm(arguments[2], std::atof(arguments[3])), std::string(arguments[6]) == "holder",
    static_cast<unsigned>(std::atol(arguments[5])));
  std::array<Seen, KINDS.size()> seen;
  for (std::size_t k = 0; k < total; k++) {trials.play(k % KINDS.size(), seen[k % KINDS.size()]);}
  for (std::size_t k = 0; k < KINDS.size(); k++) {
    const Seen & s = seen[k];
    std::printf(
      "%s %zu %zu %zu %.3f %.3f %.3f %.3f %.3f\n", KINDS[k], s.deaths, s.moving, s.restless, s.speed, s.travel,
      s.fastest, s.share, s.rest);
  }
}
