#include "app/window/program_handle.h"

#include <atomic>
#include <mutex>
#include <thread>

namespace peel::app {
namespace {

class Started : public ProgramHandle {
 public:
  explicit Started(const Startable& s) : program_(s) {
    state_.title = s.title;
    begin();
  }
  ~Started() override {
    cancel_ = true;
    if (const auto r = running()) r->kill();
    if (worker_.joinable()) worker_.join();
  }

  views::ProgramState state() override {
    std::lock_guard lock(mutex_);
    return state_;
  }
  int recordings() const override { return recordings_; }
  int last_status() const override { return last_status_; }
  void interrupt() override {
    cancel_ = true;
    if (const auto r = running()) r->interrupt();
  }
  void kill() override {
    cancel_ = true;
    if (const auto r = running()) r->kill();
  }
  void run_again() override {
    cancel_ = true;
    if (const auto r = running()) r->kill();
    if (worker_.joinable()) worker_.join();  // a killed program's file is finished within a moment
    begin();
  }

 private:
  std::shared_ptr<Recording> running() {
    std::lock_guard lock(mutex_);
    return recording_;
  }
  template <class F>
  void set(F change) {
    std::lock_guard lock(mutex_);
    change(state_);
  }
  void begin() {
    cancel_ = false;
    set([](views::ProgramState& s) {
      s.run = views::ProgramState::Run::kBuildingAgent, s.progress = -1, s.can_run_again = false;
      s.message = "starting";
    });
    worker_ = std::thread([this] { work(); });
  }
  void work() {
    auto made = program_.start(
        [this](launch::BuildProgress p) {
          set([&](views::ProgramState& s) {
            s.message = p.stage ? p.stage : "building the agent";
            if (p.total > 0) s.message += ": " + std::to_string(p.done) + " of " + std::to_string(p.total);
            s.progress = p.total > 0 ? float(p.done) / float(p.total) : -1;
          });
        },
        &cancel_);
    if (!made) {
      set([&](views::ProgramState& s) {
        s.run = views::ProgramState::Run::kEnded, s.message = made.error(), s.exit_code = 2, s.can_run_again = true, s.progress = -1;
      });
      return;
    }
    const std::shared_ptr<Recording> r = std::move(*made);
    {
      std::lock_guard lock(mutex_);
      recording_ = r;
      state_.run = views::ProgramState::Run::kRunning, state_.message = "running", state_.progress = -1;
      state_.can_run_again = true;
    }
    recordings_++;
    const int status = r->wait();
    last_status_ = status;
    std::string trouble = r->trouble();
    {
      std::lock_guard lock(mutex_);
      recording_.reset();
      state_.run = views::ProgramState::Run::kEnded, state_.exit_code = status;
      state_.message = !trouble.empty() ? trouble
                       : r->killed_by_signal() ? "ended by signal " + std::to_string(status - 128)
                       : status ? "exit status " + std::to_string(status) : "ended, exit status 0";
    }
  }

  Startable program_;
  std::thread worker_;
  std::atomic<bool> cancel_ = false;
  std::atomic<int> recordings_ = 0, last_status_ = -1;
  mutable std::mutex mutex_;
  views::ProgramState state_;
  std::shared_ptr<Recording> recording_;
};

}  // namespace

std::unique_ptr<ProgramHandle> make_program_handle(const Startable& s) { return std::make_unique<Started>(s); }

}  // namespace peel::app
