// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Struct;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The global run queue under {@code sched.lock}, of no scheduler, each operation beside the same in plain Java
 * ({@code floor…}): a list through its elements under a {@link ReentrantLock}. For regressions.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class GlobalRunqBench {
    private final long sched = Mem.alloc(Struct.SCHEDT, 1);
    private final GSlots slots = new GSlots(this);
    private final ReentrantLock lock = new ReentrantLock();
    private Node head;
    private Node tail;

    private static final class Node {
        private Node next;
    }

    /** A thread's P, G and node. Each thread takes after it has put, so it finds an element. */
    @State(Scope.Thread)
    public static class Mine {
        private final long pp = Mem.alloc(Struct.P, 1);
        private long gp;
        private Node node = new Node();

        /** Makes the G. */
        @Setup
        public void open(GlobalRunqBench queue) {
            gp = queue.slots.malg();
        }

        /** Releases the P. */
        @TearDown
        public void close() {
            Mem.recycle(Struct.P, pp);
        }
    }

    /** Releases the memory. */
    @TearDown
    public void close() {
        slots.release();
        Mem.recycle(Struct.SCHEDT, sched);
    }

    /** globrunqput and globrunqget of one G, the lock taken for each. */
    @Benchmark
    public void putGet(Mine mine) {
        SchedLock.lock(sched);
        GlobalRunq.globrunqput(sched, mine.gp);
        SchedLock.unlock(sched);
        SchedLock.lock(sched);
        mine.gp = GlobalRunq.globrunqget(sched, mine.pp);
        SchedLock.unlock(sched);
    }

    /** The same by two threads at a time. */
    @Benchmark
    @Threads(2)
    public void contended(Mine mine) {
        putGet(mine);
    }

    /** The same in plain Java. */
    @Benchmark
    public void floorPutGet(Mine mine) {
        lock.lock();
        append(mine.node);
        lock.unlock();
        lock.lock();
        mine.node = take();
        lock.unlock();
    }

    /** The same by two threads at a time. */
    @Benchmark
    @Threads(2)
    public void floorContended(Mine mine) {
        floorPutGet(mine);
    }

    private void append(Node last) {
        last.next = null;
        if (tail == null) {
            head = last;
        } else {
            tail.next = last;
        }
        tail = last;
    }

    private Node take() {
        Node n = head;
        head = n.next;
        if (head == null) {
            tail = null;
        }
        n.next = null;
        return n;
    }
}
