// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.gmp4j.ffi.gmp.p;
import org.gmp4j.ffi.gmp.schedt;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Runq;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Schedt;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
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
    /** The most Gs that a P takes at once. */
    private static final int BATCH = 4;

    private final long sched = Mem.alloc(schedt.layout(), 1);
    private final GSlots slots = new GSlots(this);
    private final ReentrantLock lock = new ReentrantLock();
    private Node head;
    private Node tail;

    private static final class Node {
        private Node next;
    }

    /** What one thread has: a P and Gs to put, and nodes. There are as many elements as were put, so each finds one. */
    @State(Scope.Thread)
    public static class Mine {
        private final long pp = Mem.alloc(p.layout(), 1);
        private final long[] gs = new long[BATCH];
        private final Node[] nodes = new Node[BATCH];
        private final Node[] ring = new Node[BATCH];

        /** Makes the elements. */
        @Setup
        public void open(GlobalRunqBench queue) {
            for (int i = 0; i < BATCH; i++) {
                gs[i] = queue.slots.malg();
                nodes[i] = new Node();
            }
        }

        /** Gives the P back. */
        @TearDown
        public void close() {
            Mem.recycle(p.layout(), pp);
        }
    }

    /** One P: its fair share is all there is. */
    @Setup
    public void open() {
        Schedt.GOMAXPROCS.setOpaque(sched, 1);
    }

    /** Gives the memory back. */
    @TearDown
    public void close() {
        slots.release();
        Mem.recycle(schedt.layout(), sched);
    }

    /** globrunqput and globrunqget of one G, the lock taken for each. */
    @Benchmark
    public void putGet(Mine mine) {
        SchedLock.lock(sched);
        GlobalRunq.globrunqput(sched, mine.gs[0]);
        SchedLock.unlock(sched);
        SchedLock.lock(sched);
        mine.gs[0] = GlobalRunq.globrunqget(sched, mine.pp);
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
        append(mine.nodes[0], mine.nodes[0]);
        lock.unlock();
        lock.lock();
        mine.nodes[0] = take();
        lock.unlock();
    }

    /** The same by two threads at a time. */
    @Benchmark
    @Threads(2)
    public void floorContended(Mine mine) {
        floorPutGet(mine);
    }

    /** A share of Gs is linked, put together and taken together, all but one into a ring and out of it: the time of one G. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void batch(Mine mine) {
        long[] gs = mine.gs;
        for (int i = 1; i < BATCH; i++) {
            G.SCHEDLINK.set(gs[i - 1], gs[i]);
        }
        SchedLock.lock(sched);
        GlobalRunq.globrunqputbatch(sched, gs[0], gs[BATCH - 1], BATCH);
        SchedLock.unlock(sched);
        SchedLock.lock(sched);
        gs[0] = GlobalRunq.globrunqget(sched, mine.pp);
        SchedLock.unlock(sched);
        for (int i = 1; i < BATCH; i++) {
            gs[i] = Runq.runqget(mine.pp);
        }
    }

    /** The same in plain Java; the ring is an array that nobody else sees. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void floorBatch(Mine mine) {
        Node[] nodes = mine.nodes;
        for (int i = 1; i < BATCH; i++) {
            nodes[i - 1].next = nodes[i];
        }
        lock.lock();
        append(nodes[0], nodes[BATCH - 1]);
        lock.unlock();
        lock.lock();
        for (int i = 0; i < BATCH; i++) {
            mine.ring[i] = take();
        }
        lock.unlock();
        System.arraycopy(mine.ring, 0, nodes, 0, BATCH);
    }

    private void append(Node first, Node last) {
        last.next = null;
        if (tail == null) {
            head = first;
        } else {
            tail.next = first;
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
