#include "tracer/wire/ring.h"

#include <atomic>
#include <thread>
#include <vector>

#include "tests/catch.h"

using namespace peel::wire;

namespace {

/// Both ends over one mapping, so that the thread sanitizer sees that they touch the same words.
struct Pair {
  explicit Pair(uint64_t bytes = kMinRingBytes, OnFull on_full = OnFull::kWait, bool (*gone)(void*) = nullptr, void* context = nullptr) {
    REQUIRE(create_memory(bytes, &memory));
    index = claim_ring(memory.control);
    REQUIRE(index == 0);
    base = map_ring(memory.fd, ring_offset(index, bytes), bytes, true);
    REQUIRE(base);
    producer.open(memory.control, index, base, bytes, 7, on_full, gone, context);
    RingControl& ring = memory.control->ring[index];
    consumer.open(&ring.head, &ring.tail, base, bytes);
  }
  ~Pair() {
    unmap_ring(base, memory.ring_bytes);
    memory.close();
  }
  Memory memory;
  uint32_t index;
  uint8_t* base;
  Producer producer;
  Consumer consumer;
};

bool write(Producer& p, uint32_t words, uint64_t value) {
  uint64_t* at = p.reserve(words);
  if (!at) return false;
  const Head head{RecordKind::kPad, static_cast<uint16_t>(words), 0};
  std::memcpy(at, &head, sizeof head);
  for (uint32_t i = 1; i < words; ++i) at[i] = value + i;
  p.publish(words);
  return true;
}

}  // namespace

TEST_CASE("a record that crosses the ring's end is one stretch of memory") {
  Pair pair;
  uint64_t value = 0;
  // 7 words do not divide the ring: every offset comes up
  for (int i = 0; i < 5000; ++i) {
    REQUIRE(write(pair.producer, 7, value));
    REQUIRE(pair.consumer.refresh());
    REQUIRE(pair.consumer.end() - pair.consumer.position() == 56);
    const uint64_t* at = pair.consumer.at(pair.consumer.position());
    for (uint32_t k = 1; k < 7; ++k) REQUIRE(at[k] == value + k);
    pair.consumer.advance(pair.consumer.end());
    pair.consumer.release();
    value += 10;
  }
  CHECK(pair.consumer.position() == 5000u * 56);
}

TEST_CASE("nothing is visible before it is published") {
  Pair pair;
  REQUIRE(pair.producer.reserve(4));
  REQUIRE(pair.consumer.refresh());
  CHECK(pair.consumer.end() == pair.consumer.position());
}

TEST_CASE("a full ring in drop mode refuses and counts") {
  Pair pair(kMinRingBytes, OnFull::kDrop);
  const uint32_t fits = kMinRingBytes / 64;
  for (uint32_t i = 0; i < fits; ++i) REQUIRE(write(pair.producer, 8, i));
  CHECK(pair.producer.reserve(8) == nullptr);
  CHECK(pair.producer.reserve(8) == nullptr);
  CHECK(pair.memory.control->ring[0].dropped.load() == 2);
  REQUIRE(pair.consumer.refresh());
  pair.consumer.advance(pair.consumer.position() + 64);
  pair.consumer.release();
  CHECK(pair.producer.reserve(8) != nullptr);
}

TEST_CASE("a record that can never fit is refused") {
  Pair pair;
  CHECK(pair.producer.reserve(kMinRingBytes / 8 + 1) == nullptr);
  CHECK(pair.memory.control->ring[0].dropped.load() == 1);
  CHECK(pair.producer.reserve(8) != nullptr);
}

TEST_CASE("a full ring waits for room, and says so in the ring") {
  Pair pair;
  constexpr int kRecords = 20000;
  std::thread writer([&] {
    for (int i = 0; i < kRecords; ++i) write(pair.producer, 5, static_cast<uint64_t>(i));
  });
  int records = 0, waits = 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the ring is full by then
  while (records < kRecords) {
    REQUIRE(pair.consumer.refresh());
    while (pair.consumer.position() < pair.consumer.end()) {
      const uint64_t* at = pair.consumer.at(pair.consumer.position());
      Head head;
      std::memcpy(&head, at, sizeof head);
      if (head.kind == RecordKind::kWaited) {
        Waited waited;
        std::memcpy(&waited, at, sizeof waited);
        REQUIRE(waited.ticks > 0);
        ++waits;
      } else {
        REQUIRE(head.words == 5);
        REQUIRE(at[4] == static_cast<uint64_t>(records) + 4);
        ++records;
      }
      pair.consumer.advance(pair.consumer.position() + head.words * 8);
    }
    pair.consumer.release();
  }
  writer.join();
  CHECK(waits > 0);
}

TEST_CASE("a waiting producer gives up when recording ends") {
  Pair pair;
  std::thread ender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pair.memory.control->recording.store(0);
  });
  while (pair.producer.reserve(8)) pair.producer.publish(8);
  ender.join();
  CHECK(pair.producer.head() == kMinRingBytes);
}

TEST_CASE("a waiting producer gives up when peel is gone") {
  std::atomic<bool> gone{false};
  Pair pair(kMinRingBytes, OnFull::kWait, [](void* g) { return static_cast<std::atomic<bool>*>(g)->load(); }, &gone);
  std::thread ender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gone = true;
  });
  while (pair.producer.reserve(8)) pair.producer.publish(8);
  ender.join();
  CHECK(pair.producer.head() == kMinRingBytes);
}

TEST_CASE("a tail or head that makes no sense is not believed") {
  Pair pair;
  pair.memory.control->ring[0].tail.store(1 << 30);  // far beyond the head
  uint32_t written = 0;
  pair.memory.control->recording.store(0);
  while (pair.producer.reserve(8)) pair.producer.publish(8), ++written;
  CHECK(written == kMinRingBytes / 64);
  pair.memory.control->ring[0].head.store(pair.producer.head() + 64 + kMinRingBytes);
  CHECK_FALSE(pair.consumer.refresh());
}

TEST_CASE("rings are claimed once each, from any thread") {
  Memory memory;
  REQUIRE(create_memory(kMinRingBytes, &memory));
  std::vector<std::thread> threads;
  std::atomic<uint64_t> sum{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) sum += claim_ring(memory.control);
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(sum == 199 * 200 / 2);
  CHECK(memory.control->rings.load() == 200);
  memory.control->ring[17].state.store(kFree);
  CHECK(claim_ring(memory.control) == 17);
  memory.close();
}

TEST_CASE("memory that is not a traced process' is refused with a reason") {
  Memory memory, opened;
  REQUIRE(create_memory(kMinRingBytes, &memory));
  const int same = dup(memory.fd);
  CHECK(open_memory(same, &opened) == nullptr);
  opened.close();
  memory.control->ring_bytes = 12345;
  CHECK(open_memory(memory.fd, &opened) != nullptr);
  memory.control->ring_bytes = kMaxRingBytes;  // more than the file holds
  CHECK(open_memory(memory.fd, &opened) != nullptr);
  memory.control->ring_bytes = kMinRingBytes;
  memory.control->version = 99;
  CHECK(open_memory(memory.fd, &opened) != nullptr);
  memory.control->version = kVersion;
  memory.control->magic = 1;
  CHECK(open_memory(memory.fd, &opened) != nullptr);
  memory.close();
  CHECK_FALSE(create_memory(100000, &memory));  // not a power of two
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  CHECK(open_memory(ends[0], &opened) != nullptr);
  close(ends[0]);
  close(ends[1]);
}
