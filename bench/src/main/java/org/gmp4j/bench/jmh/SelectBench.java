// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.Select;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;

/** Select, in the shapes of {@code bench/peers/go}. For regressions. */
public class SelectBench extends GmpBench {
    private static final int N = 200_000;
    private static final Object TOKEN = new Object();

    /** How many Ps. */
    @Param({"1", "2"})
    int procs;

    private long got;

    @Override
    Gmp.Builder settings() {
        return Gmp.builder().procs(procs);
    }

    /** A token goes to and fro between two channels with room for it: a select of two and a send, no switch. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void uncontended() {
        gmp.run(() -> {
            Chan<Object> a = Chan.make(1);
            Chan<Object> b = Chan.make(1);
            a.send(TOKEN);
            Select s = Select.of().recv(a, b::send).recv(b, a::send);
            for (int i = 0; i < N; i++) {
                s.run();
            }
        });
    }

    /** The same on two queues, each under a lock of the JDK's: both are locked, and one has the token. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void floorUncontended() {
        gmp.run(() -> {
            Locked a = new Locked();
            Locked b = new Locked();
            a.send(TOKEN);
            for (int i = 0; i < N; i++) {
                a.lock.lock();
                b.lock.lock();
                Object token = a.queue.poll();
                Locked to = b;
                if (token == null) {
                    token = b.queue.poll();
                    to = a;
                }
                b.lock.unlock();
                a.lock.unlock();
                to.send(token);
            }
        });
    }

    private static final class Locked {
        private final ReentrantLock lock = new ReentrantLock();
        private final ArrayDeque<Object> queue = new ArrayDeque<>();

        void send(Object v) {
            lock.lock();
            queue.add(v);
            lock.unlock();
        }
    }

    /** Two goroutines feed a select of two: unbuffered, an element. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void fed() {
        gmp.run(() -> fed(Chan.make(), Chan.make()));
    }

    /** The same through buffers of 128. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void fedBuffered() {
        gmp.run(() -> fed(Chan.make(128), Chan.make(128)));
    }

    private void fed(Chan<Object> a, Chan<Object> b) {
        Go.go(() -> feed(a));
        Go.go(() -> feed(b));
        Select s = Select.of().recv(a, v -> got++).recv(b, v -> got++);
        for (int i = 0; i < N; i++) {
            s.run();
        }
    }

    private static void feed(Chan<Object> c) {
        for (int i = 0; i < N / 2; i++) {
            c.send(TOKEN);
        }
    }

    /** Nothing to receive from one channel: the default. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void orElse() {
        gmp.run(() -> {
            Select s = Select.of().recv(Chan.make(), v -> got++).orElse(() -> got--);
            for (int i = 0; i < N; i++) {
                s.run();
            }
        });
    }

    /** Nothing to receive from two channels. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void orElseOfTwo() {
        gmp.run(() -> {
            Select s = Select.of().recv(Chan.make(), v -> got++).recv(Chan.make(), v -> got++).orElse(() -> got--);
            for (int i = 0; i < N; i++) {
                s.run();
            }
        });
    }
}
