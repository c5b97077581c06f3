// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import org.gmp4j.bench.replay.Program;

/** All programs. */
public final class Catalog implements Supplier<List<Program>> {
    private final List<Program> all = new ArrayList<>();

    /** Makes the list. */
    public Catalog() {
        rings();
        words();
        locks();
        for (List<Program> group : List.of(Chans.all(), Syncs.all(), Limits.all(), Exact.all(), Starts.all(), Wakes.all(), Timers.all(),
                Calls.all(), Gates.all(), Worlds.all(), Deadlocks.all(), Net.all(), Sockets.all(), Watches.all(), Covered.all())) {
            all.addAll(group);
        }
    }

    @Override
    public List<Program> get() {
        return List.copyOf(all);
    }

    private void rings() {
        String g = "ring";
        all.add(Program.of("take-steal", g, "the owner takes and pushes while a thief steals", () -> new Rings.TakeAndSteal(2)).covered());
        all.add(Program.of("two-thieves", g, "two thieves steal from one ring", Rings.TwoThieves::new).covered());
        all.add(Program.of("wraps-around", g, "two thieves at a ring that wraps around and overflows", Rings.WrapsAround::new));
        all.add(Program.of("overflow", g, "half of a full ring goes to the global queue while a thief steals", Rings.Overflow::new)
                .covered());
        all.add(Program.of("kick", g, "the owner moves runnext into the ring while a thief takes it", Rings.Kick::new).covered());
        all.add(Program.of("runnext", g, "owner and thief take runnext", Rings.Runnext::new).covered());
        all.add(Program.of("runnext-two", g, "two thieves take runnext", Rings.RunnextOfTwo::new).covered());
        all.add(Program.of("batch", g, "a list goes into the ring, and the rest to the global queue, beside a thief", Rings.Batch::new)
                .covered());
        all.add(Program.of("never-empty", g, "a queue that always has a G never looks empty", Rings.NeverEmpty::new).covered());
    }

    private void words() {
        String g = "words";
        all.add(Program.of("global", g, "two Ps and a thread at the global queue", Words.Global::new));
        all.add(Program.of("arrived", g, "what has arrived comes before what Ps have put off, in its order", Words.Arrived::new).covered());
        all.add(Program.of("ahead", g, "woken Gs go ahead of others that have arrived, three before each, whatever is taken meanwhile",
                Words.Ahead::new));
        all.add(Program.of("turns", g, "the global queue in its turn, with Gs that were preempted and Gs that have arrived",
                Words.Turns::new));
        all.add(Program.of("mask", g, "bits of a mask change at the same time", Words.Mask::new).covered());
        all.add(Program.of("spinners", g, "spinners and idle Ps are counted by several threads", Words.Spinners::new).covered());
        all.add(Program.of("scan", g, "a G is held for its stack trace while its status changes", Words.Scan::new).covered());
        all.add(Program.of("free-gs", g, "dead Gs go from P to P", Words.FreeGs::new));
        all.add(Program.of("sudogs", g, "threads and Ps share free sudogs", Words.Sudogs::new));
    }

    private void locks() {
        String g = "lock";
        all.add(Program.of("mutex-2", g, "two threads in a runtime lock", () -> new Locks.Runtime(2, 2)).waking(0, 1).covered());
        all.add(Program.of("mutex-3", g, "three threads in a runtime lock", () -> new Locks.Runtime(3, 1)).covered());
        all.add(Program.of("heap-mutex-2", g, "two threads in a lock of an object", () -> new Locks.OnHeap(2, 2)).waking(0, 1).covered());
        all.add(Program.of("heap-mutex-3", g, "three threads in a lock of an object", () -> new Locks.OnHeap(3, 1)).covered());
        all.add(Program.of("note", g, "a sleep and a wake-up, twice each way", Locks.Notes::new).waking(0, 1).covered());
        all.add(Program.of("note-limited", g, "a wake-up as the time is up", Locks.Limited::new).waking(1, 1).covered());
        all.add(Program.of("note-rings", g, "two threads ring one that serves", Locks.Rings::new).waking(0, 1).covered());
        all.add(Program.of("note-double", g, "a second wake-up is noticed", Locks.Doubled::new).covered());
    }
}
