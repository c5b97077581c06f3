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
        waits();
        cancels();
        loops();
        meetings();
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

    private void waits() {
        String g = "wait";
        all.add(Program.of("chan", g, "two senders and two receivers without a buffer", () -> new Waits.Channel(0)));
        all.add(Program.of("chan-1", g, "two senders and two receivers with a buffer of one", () -> new Waits.Channel(1)));
        all.add(Program.of("long-chan", g, "two senders and a receiver of longs", Waits.Longs::new));
        all.add(Program.of("close", g, "a close beside a sender and a receiver", Waits.Close::new));
        all.add(Program.of("close-two", g, "two receivers of a channel that is closed wait again", Waits.CloseTwo::new));
        all.add(Program.of("sent-before-close", g, "what was sent before the close is received", Waits.SentBeforeClose::new));
        all.add(Program.of("selects", g, "two selects and two senders", Waits.Selects::new));
        all.add(Program.of("select-twice", g, "one select, run twice, and two senders", Waits.SelectTwice::new));
        all.add(Program.of("selects-leave", g, "two selects and a receiver leave a queue in any order", Waits.SelectsLeave::new));
        all.add(Program.of("selects-meet", g, "a select that sends and one that receives", Waits.SelectsMeet::new));
        all.add(Program.of("select-default", g, "a default sees all channels at one moment", Waits.SelectDefault::new));
        all.add(Program.of("limited", g, "a receive with a limit of time beside a try to send", Waits.Limited::new).waking(2, 0));
        all.add(Program.of("mutex-limited", g, "a Mutex whose waiters starve, or give up", Limited.Mutexes::new).waking(3, 0));
        all.add(Program.of("readers-limited", g, "readers and writers that give up", Limited.Readers::new).waking(3, 0));
        all.add(Program.of("semaphore-limited", g, "a large request gives up", Limited.Units::new).waking(2, 0));
        all.add(Program.of("group-limited", g, "a waiter of a group gives up", Limited.Groups::new).waking(2, 0));
        all.add(Program.of("cond-limited", g, "a waiter of a condition gives up", Limited.Conditions::new).waking(2, 0));
        all.add(Program.of("mutex", g, "three threads in a Mutex", Waits.Mutexes::new));
        all.add(Program.of("readers", g, "readers and writers", Waits.Readers::new));
        all.add(Program.of("semaphore", g, "a large request and small ones", Waits.Units::new));
        all.add(Program.of("wait-group", g, "two wait for two", Waits.Groups::new));
        all.add(Program.of("cond", g, "a condition that is signalled twice", Waits.Conditions::new));
        all.add(Program.of("once", g, "three ask for one run", Waits.OnlyOnce::new));
    }

    private void loops() {
        all.add(Program.ofLoop("submits", "a thread starts goroutines on two idle Ps", () -> new Loops.Submits(2, 3)));
        all.add(Program.ofLoop("submits-one", "a thread starts goroutines on one idle P", () -> new Loops.Submits(1, 3)));
        all.add(Program.ofLoop("submitters", "two threads start goroutines", Loops.TwoSubmitters::new));
        all.add(Program.ofLoop("spawns", "a goroutine starts seven others on two Ps", () -> new Loops.Spawns(2, 7)));
        all.add(Program.ofLoop("spawns-3", "a goroutine starts four others on three Ps", () -> new Loops.Spawns(3, 4)));
        all.add(Program.ofLoop("ping-pong", "two goroutines ready each other", () -> new Loops.PingPong(0)));
        all.add(Program.ofLoop("ping-pong-1", "two goroutines and channels with a buffer", () -> new Loops.PingPong(1)));
        all.add(Program.ofLoop("ready", "a thread readies goroutines", Loops.ReadyFromOutside::new));
        all.add(Program.ofLoop("select", "a goroutine selects twice, two send", Loops.Selects::new));
        all.add(Program.ofLoop("give-up", "a send and a receive that each give up after a time", Loops.Limited::new));
        all.add(Program.ofLoop("timers", "a timer is stopped and set again", Loops.Timers::new));
        all.add(Program.ofLoop("yields", "three goroutines yield on two Ps", Loops.Yields::new));
        all.add(Program.ofLoop("sleeps", "three goroutines sleep", Loops.Sleeps::new));
        all.add(Program.ofLoop("calls", "system calls whose P is taken", Loops.Calls::new));
        all.add(Program.ofLoop("mutexes", "three goroutines in a Mutex", Loops.Mutexes::new));
        all.add(Program.ofLoop("group", "a goroutine waits for three", Loops.Group::new));
        all.add(Program.ofLoop("resizes", "the number of Ps changes while goroutines run", Loops.Resizes::new));
        all.add(Program.ofLoop("resizes-inside", "a goroutine changes the number of Ps", Loops.ResizesInside::new));
        all.add(Program.ofLoop("stops", "two threads stop the world, and check it", Loops.Stops::new));
        all.add(Program.ofLoop("locked", "a goroutine is locked to its thread", Loops.Locked::new));
        all.add(Program.ofLoop("parks", "a virtual thread parks, and is unparked early and late", Ends.Parks::new));
        all.add(Program.ofLoop("parks-late", "wake-ups of the JDK's that come late or twice", Ends.ParksLate::new));
        all.add(Program.ofLoop("closes", "the scheduler is closed while goroutines run", Ends.Closes::new));
        all.add(Program.ofLoop("deadlock", "a deadlock is reported when all sleep, and not before", Ends.Deadlock::new));
        all.add(Program.ofLoop("no-deadlock", "a thread unparks a goroutine as the last M falls asleep", Ends.NoDeadlock::new));
        all.add(Program.ofLoop("deadlock-timer", "a deadlock behind a timer that was stopped is reported at once",
                Ends.DeadlockBehindTimer::new).waking(0, 0));
    }

    /** Goroutines that meet: each runs on until all of them run, so each needs a P at the same time. */
    private void meetings() {
        all.add(Program.ofLoop("meet-submits", "a thread starts two that meet", () -> new Meetings.Submits(2, 1)));
        all.add(Program.ofLoop("meet-submits-3", "a thread starts three that meet", () -> new Meetings.Submits(3, 1)));
        all.add(Program.ofLoop("meet-submitters", "three threads start three that meet", () -> new Meetings.Submits(3, 3)));
        all.add(Program.ofLoop("meet-spawns", "a goroutine starts one that it meets", () -> new Meetings.Spawns(2)));
        all.add(Program.ofLoop("meet-spawns-3", "a goroutine starts two that it meets", () -> new Meetings.Spawns(3)));
        all.add(Program.ofLoop("meet-tree", "a goroutine starts one that starts one, and all meet", Meetings.Tree::new));
        all.add(Program.ofLoop("meet-ready", "a goroutine readies two that it meets", Meetings.Ready::new));
        all.add(Program.ofLoop("meet-sleeps", "a goroutine meets two that have slept", Meetings.Sleeps::new));
        all.add(Program.ofLoop("meet-calls", "a goroutine in a call meets one that needs its P", Meetings.Calls::new));
        all.add(Program.ofLoop("meet-taken", "an M is taken for a P with work while it looks for the last time", Meetings.Taken::new));
        all.add(Program.ofLoop("meet-handoff", "a P is handed off while a spinner finds work and more is started", Meetings.Handoff::new));
        all.add(Program.ofLoop("meet-resized", "goroutines meet on Ps that are added", Meetings.Resized::new));
    }

    private void cancels() {
        String g = "wait";
        all.add(Program.of("cancel-alone", g, "nothing but a context ends a wait", Cancelled.Alone::new));
        all.add(Program.of("cancel-taken", g, "a unit is released as its waiter's context is cancelled", Cancelled.Taken::new));
        all.add(Program.of("cancel-large", g, "a large request is given up in front of a small one", Cancelled.Large::new));
        all.add(Program.of("too-large", g, "a request for more than there is holds nobody up", Cancelled.TooLarge::new));
        all.add(Program.of("together", g, "waiters for whom there is room are let in together", Cancelled.Together::new));
        all.add(Program.of("cancel-readers", g, "readers and writers that give up", Cancelled.Readers::new));
        all.add(Program.of("cancel-cond", g, "a waiter of a condition gives up", Cancelled.Conditions::new));
        all.add(Program.of("cancel-select", g, "a context ends a select and a send", Cancelled.Selects::new));
    }
}
