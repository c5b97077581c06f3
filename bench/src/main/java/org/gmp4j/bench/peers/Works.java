// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The works whose figure is the time of an operation. {@code bench/peers/go} and {@code bench/peers/kotlin} do the same; the
 * names are the catalogue's.
 */
final class Works {
    private static final int RING = 1000;
    private static final int WORKERS = 8;
    private static final int WAITERS = 1000;
    private static final int CAPACITY = 128;

    private static volatile long sink;

    private Works() {
    }

    /** Runs one; {@code false} if it is none of these. */
    static boolean run(String work, String suffix, Kit kit, Meter m) {
        switch (work) {
            case "yield" -> yields(kit, m);
            case "pingpong" -> pingpong("pingpong" + suffix, kit, m);
            case "buffered" -> buffered("buffered" + suffix, kit, m);
            case "spawn" -> spawn(kit, m);
            case "skynet" -> skynet("skynet" + suffix, kit, m);
            case "ring" -> ring("ring" + suffix, kit, m);
            case "select" -> select("select" + suffix, kit, m);
            case "selectfed" -> selectFed(suffix, kit, m);
            case "mutex" -> mutex(kit, m);
            case "contended" -> contended(kit, m);
            case "timerstop" -> timerStop(kit, m);
            case "timerreset" -> timerReset(kit, m);
            case "tree" -> tree("tree" + suffix, kit, m);
            case "fan" -> fan("fan" + suffix, kit, m);
            case "storm" -> storm("storm" + suffix, kit, m);
            default -> {
                return false;
            }
        }
        return true;
    }

    private static void yields(Kit kit, Meter m) {
        int n = m.size(300_000);
        m.perOperation(kit, "yield", 2 * n, () -> {
            Kit.Latch both = kit.latch(2);
            for (int i = 0; i < 2; i++) {
                kit.go(() -> {
                    for (int k = 0; k < n; k++) {
                        kit.yield();
                    }
                    both.done();
                });
            }
            both.await();
        });
    }

    private static void pingpong(String name, Kit kit, Meter m) {
        int n = m.size(200_000);
        m.perOperation(kit, name, n, roundTrips(kit, n));
    }

    /** Makes round trips between two threads through unbuffered queues. */
    static Runnable roundTrips(Kit kit, int n) {
        return () -> {
            Kit.Queue ping = kit.queue(0);
            Kit.Queue pong = kit.queue(0);
            kit.go(() -> {
                for (int i = 0; i < n; i++) {
                    pong.send(ping.recv());
                }
            });
            for (int i = 0; i < n; i++) {
                ping.send(i);
                sink = pong.recv();
            }
        };
    }

    private static void buffered(String name, Kit kit, Meter m) {
        int n = m.size(2_000_000);
        m.perOperation(kit, name, n, () -> {
            Kit.Queue q = kit.queue(CAPACITY);
            kit.go(() -> {
                for (int i = 0; i < n; i++) {
                    q.send(i);
                }
            });
            for (int i = 0; i < n; i++) {
                sink = q.recv();
            }
        });
    }

    private static void spawn(Kit kit, Meter m) {
        for (int batch : new int[] {100, 10_000}) {
            int batches = Math.max(1, m.size(500_000) / batch);
            m.perOperation(kit, "spawn/batch=" + batch, batches * batch, () -> {
                for (int b = 0; b < batches; b++) {
                    Kit.Latch all = kit.latch(batch);
                    Runnable done = all::done;
                    for (int i = 0; i < batch; i++) {
                        kit.go(done);
                    }
                    all.await();
                }
            });
        }
    }

    /** Nanoseconds a leaf. */
    private static void skynet(String name, Kit kit, Meter m) {
        int leaves = m.size(100_000);
        m.perOperation(kit, name, leaves, () -> {
            Kit.Queue up = kit.queue(0);
            kit.go(() -> node(kit, up, 0, leaves));
            long sum = up.recv();
            if (sum != (long) leaves * (leaves - 1) / 2) {
                throw new IllegalStateException("skynet: wrong sum " + sum);
            }
        });
    }

    private static void node(Kit kit, Kit.Queue up, long first, int size) {
        if (size == 1) {
            up.send(first);
            return;
        }
        Kit.Queue mine = kit.queue(0);
        int children = Math.min(10, size);
        for (int i = 0; i < children; i++) {
            int from = (int) ((long) i * size / children);
            int to = (int) ((long) (i + 1) * size / children);
            kit.go(() -> node(kit, mine, first + from, to - from));
        }
        long sum = 0;
        for (int i = 0; i < children; i++) {
            sum += mine.recv();
        }
        up.send(sum);
    }

    private static void ring(String name, Kit kit, Meter m) {
        int hops = m.size(500_000);
        m.perOperation(kit, name, hops, () -> {
            Kit.Queue[] links = new Kit.Queue[RING];
            for (int i = 0; i < RING; i++) {
                links[i] = kit.queue(0);
            }
            Kit.Latch arrived = kit.latch(1);
            for (int i = 0; i < RING; i++) {
                Kit.Queue in = links[i];
                Kit.Queue out = links[(i + 1) % RING];
                kit.go(() -> {
                    for (long hop = in.recv(); hop > 0; hop = in.recv()) {
                        if (hop == hops) {
                            arrived.done();
                        } else {
                            out.send(hop + 1);
                        }
                    }
                });
            }
            links[0].send(1);
            arrived.await();
            for (Kit.Queue link : links) {
                link.send(0);
            }
        });
    }

    private static void select(String name, Kit kit, Meter m) {
        int n = m.size(1_000_000);
        m.perOperation(kit, name, n, () -> {
            Kit.Queue a = kit.queue(1);
            Kit.Queue b = kit.queue(1);
            a.send(0);
            Runnable either = kit.either(a, b::send, b, a::send);
            for (int i = 0; i < n; i++) {
                either.run();
            }
        });
    }

    private static void selectFed(String suffix, Kit kit, Meter m) {
        int half = m.size(250_000);
        for (int capacity : new int[] {0, CAPACITY}) {
            m.perOperation(kit, "selectfed/cap=" + capacity + suffix, 2 * half, () -> {
                Kit.Queue a = kit.queue(capacity);
                Kit.Queue b = kit.queue(capacity);
                kit.go(() -> feed(a, half));
                kit.go(() -> feed(b, half));
                Runnable either = kit.either(a, v -> sink = v, b, v -> sink = v);
                for (int i = 0; i < 2 * half; i++) {
                    either.run();
                }
            });
        }
    }

    private static void feed(Kit.Queue q, int n) {
        for (int i = 0; i < n; i++) {
            q.send(i);
        }
    }

    private static void mutex(Kit kit, Meter m) {
        int n = m.size(5_000_000);
        Kit.Guard guard = kit.guard();
        int[] counter = new int[1];
        m.perOperation(kit, "mutex", n, () -> count(guard, counter, n));
    }

    private static void count(Kit.Guard guard, int[] counter, int n) {
        for (int i = 0; i < n; i++) {
            guard.lock();
            counter[0]++;
            guard.unlock();
        }
    }

    private static void contended(Kit kit, Meter m) {
        int users = 4;
        int n = m.size(1_000_000);
        Kit.Guard guard = kit.guard();
        int[] counter = new int[1];
        m.perOperation(kit, "contended", users * n, () -> {
            Kit.Latch all = kit.latch(users);
            for (int i = 0; i < users; i++) {
                kit.go(() -> {
                    count(guard, counter, n);
                    all.done();
                });
            }
            all.await();
        });
    }

    private static void timerStop(Kit kit, Meter m) {
        int n = m.size(500_000);
        m.perOperation(kit, "timerstop", n, () -> {
            for (int i = 0; i < n; i++) {
                kit.alarm().stop();
            }
        });
    }

    private static void timerReset(Kit kit, Meter m) {
        int n = m.size(500_000);
        m.perOperation(kit, "timerreset", n, () -> {
            Kit.Alarm alarm = kit.alarm();
            for (int i = 0; i < n; i++) {
                alarm.reset();
            }
            alarm.stop();
        });
    }

    /** Measures an unbalanced tree, in nanoseconds a leaf: each node gives an eighth of its leaves to a child, again and again. */
    private static void tree(String name, Kit kit, Meter m) {
        int leaves = m.size(300_000);
        m.perOperation(kit, name, leaves, () -> {
            Kit.Latch all = kit.latch(1);
            AtomicInteger left = new AtomicInteger(leaves);
            kit.go(() -> branch(kit, leaves, left, all));
            all.await();
        });
    }

    private static void branch(Kit kit, int size, AtomicInteger left, Kit.Latch all) {
        int mine = size;
        while (mine > 1) {
            int part = Math.max(1, mine / 8);
            kit.go(() -> branch(kit, part, left, all));
            mine -= part;
        }
        compute(size);
        if (left.decrementAndGet() == 0) {
            all.done();
        }
    }

    /** Computes for some 100 ns. */
    private static void compute(long seed) {
        long x = seed;
        for (int i = 0; i < 64; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        if (x == 0) {
            sink = x;
        }
    }

    /** Measures one that feeds 8 workers, and another that collects their results. */
    private static void fan(String name, Kit kit, Meter m) {
        int each = m.size(400_000) / WORKERS + 1;
        m.perOperation(kit, name, each * WORKERS, () -> {
            Kit.Queue in = kit.queue(CAPACITY);
            Kit.Queue out = kit.queue(CAPACITY);
            kit.go(() -> feed(in, each * WORKERS));
            for (int w = 0; w < WORKERS; w++) {
                kit.go(() -> {
                    for (int i = 0; i < each; i++) {
                        long v = in.recv();
                        compute(v);
                        out.send(v);
                    }
                });
            }
            long sum = 0;
            for (int i = 0; i < each * WORKERS; i++) {
                sum += out.recv();
            }
            sink = sum;
        });
    }

    /** Measures the time until all of 1000 waiters that one event releases have run, a line each time, in nanoseconds a waiter. */
    private static void storm(String name, Kit kit, Meter m) {
        int waiters = Math.max(2, m.size(WAITERS));
        double[] each = new double[1];
        m.warmUp(nanos -> {
            long end = System.nanoTime() + nanos;
            do {
                kit.run(() -> each[0] = storm(kit, waiters));
            } while (System.nanoTime() - end < 0);
        });
        long end = System.nanoTime() + m.settings().nanos();
        for (int runs = 0; runs < Meter.LEAST_RUNS || System.nanoTime() - end < 0; runs++) {
            kit.run(() -> each[0] = storm(kit, waiters));
            m.value(name, "ns", each[0]);
        }
    }

    private static double storm(Kit kit, int waiters) {
        Kit.Gate gate = kit.gate();
        Kit.Latch ready = kit.latch(waiters);
        Kit.Latch all = kit.latch(waiters);
        for (int i = 0; i < waiters; i++) {
            kit.go(() -> {
                ready.done();
                gate.await();
                all.done();
            });
        }
        ready.await();
        kit.sleep(Duration.ofMillis(1)); // The last ones are on their way into their wait.
        long start = System.nanoTime();
        gate.open();
        all.await();
        return (System.nanoTime() - start) / (double) waiters;
    }
}
