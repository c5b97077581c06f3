// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.simulate;

import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.TreeMap;

import org.gmp4j.affinity.StealOrder;
import org.gmp4j.ffi.Memory;
import org.gmp4j.ffi.Shims;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Places;
import org.gmp4j.queue.Runq;
import org.gmp4j.queue.StealWalk;
import org.gmp4j.queue.VictimOrder;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;

/**
 * Ps without threads, in simulated time, on the runtime's own structs: its rings, global queue, idle lists and masks, its steal
 * walk and orders are those that run in a scheduler. What this class has of its own is what an M does around them (when it looks,
 * spins and sleeps, by the rules of {@code sched.FindRunnable} and {@code sched.Wakep}) and what each step costs ({@link Costs}).
 *
 * <p>One thread runs it; a P's step sees the others as they are when it begins. Two resources serve one P at a time, in the order in
 * which they are asked: sched.lock, and the word that counts spinners.
 */
final class Model implements AutoCloseable {
    private static final int IDLE = 0;
    private static final int RUNS = 1;
    private static final int WAKES = 2;
    private static final int GIVES_UP = 3;
    private static final int STARTS = 4;
    private static final int GLOBAL_FIRST = 61;

    /** What goes on. */
    interface Load {
        /** Returns how many goroutines an ending one starts, by the number of Ps and its depth (0 is the first). */
        int children(int procs, int depth);

        /** Returns how long a goroutine runs, in nanoseconds. */
        long work(int depth, Random random);
    }

    private record Event(long at, long order, int p) implements Comparable<Event> {
        @Override
        public int compareTo(Event o) {
            return at != o.at ? Long.compare(at, o.at) : Long.compare(order, o.order);
        }
    }

    /** Something that one P has at a time. */
    static final class Resource {
        /** When it is taken: begin to end. Asked for by steps that began earlier than others, but are further ahead. */
        private final TreeMap<Long, Long> taken = new TreeMap<>();
        long asked;
        long waited;
        long held;

        long use(long at, long hold) {
            long begin = at;
            Map.Entry<Long, Long> before = taken.floorEntry(at);
            if (before != null) {
                begin = Math.max(begin, before.getValue());
            }
            for (Map.Entry<Long, Long> next : taken.tailMap(at, false).entrySet()) {
                if (next.getKey() - begin >= hold) {
                    break;
                }
                begin = Math.max(begin, next.getValue());
            }
            asked++;
            held += hold;
            waited += begin - at;
            taken.put(begin, begin + hold);
            return begin + hold;
        }

        /** Notes that no step will ask for a time before this one. */
        void passed(long now) {
            while (!taken.isEmpty() && taken.firstEntry().getValue() < now) {
                taken.pollFirstEntry();
            }
        }
    }

    /** A P's thief: pseudo-random, and charges what it looks at. */
    private final class Thief extends StealWalk {
        private final int self;
        private long cost;

        Thief(int self) {
            this.self = self;
        }

        @Override
        protected int cheaprand() {
            return random.nextInt();
        }

        @Override
        protected boolean runTimers(long victim) {
            return false;
        }

        @Override
        protected void looks(int victim) {
            boolean idle = Idle.maskRead(Schedt.IDLEPMASK.getAcquire(sched), victim);
            cost += idle ? Costs.IDLE_LOOK : victim == self ? 0 : Costs.probe(places.between(self, victim));
        }
    }

    private final int procs;
    private final Places places;
    private final VictimOrder order;
    private final Random random;
    private final long sched = Mem.alloc(Struct.SCHEDT, 1);
    private final long allp;
    private final long masks;
    private final long counts;
    private final long[] ps;
    private final Thief[] thieves;
    private final int[] state;
    private final int[] depth;
    private final int[] toStart;
    private final boolean[] spins;
    private final long[] running;
    private final boolean[] ran;
    private final GSlots slots = new GSlots(this);
    private final Map<Long, Integer> depths = new HashMap<>();
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long stamp;
    private int spinning;
    private int haveRun;
    private long left;

    final Resource lock = new Resource();
    final Resource spinners = new Resource();
    final long[] stolen = new long[Places.DISTANCES];
    long steals;
    long probes;
    long wakeups;
    /** When half of the Ps had run something, negative for never; when all was done. */
    long spread = -1;
    long end;

    Model(Places places, int procs, StealOrder kind, long seed) {
        Shims.load();
        this.procs = procs;
        this.places = places;
        order = new VictimOrder(kind, procs, places);
        random = new Random(seed);
        allp = Memory.map((long) procs * Long.BYTES);
        masks = Memory.map(2L * maskBytes());
        counts = Memory.map((long) procs * procs * Long.BYTES);
        ps = new long[procs];
        thieves = new Thief[procs];
        state = new int[procs];
        depth = new int[procs];
        toStart = new int[procs];
        spins = new boolean[procs];
        running = new long[procs];
        ran = new boolean[procs];
        Schedt.GOMAXPROCS.setOpaque(sched, procs);
        Schedt.IDLEPMASK.setRelease(sched, masks);
        Schedt.TIMERPMASK.setRelease(sched, masks + maskBytes());
        for (int i = 0; i < procs; i++) {
            ps[i] = Mem.alloc(Struct.P, 1);
            P.ID.set(ps[i], i);
            PStatus.set(ps[i], PStatus.PIDLE);
            PStat.setStolenFrom(ps[i], counts + (long) i * procs * Long.BYTES);
            Mem.LONG.set(allp + (long) i * Long.BYTES, ps[i]);
            thieves[i] = new Thief(i);
        }
        Schedt.ALLP.setRelease(sched, allp);
        for (int i = procs - 1; i > 0; i--) {
            Idle.pidleput(sched, ps[i], 0);
        }
    }

    private long maskBytes() {
        return (procs + 63L) / 64 * Long.BYTES;
    }

    @Override
    public void close() {
        slots.release();
        for (long pp : ps) {
            Mem.recycle(Struct.P, pp);
        }
        Memory.unmap(allp, (long) procs * Long.BYTES);
        Memory.unmap(masks, 2L * maskBytes());
        Memory.unmap(counts, (long) procs * procs * Long.BYTES);
        Mem.recycle(Struct.SCHEDT, sched);
    }

    /** Runs from one goroutine on P 0 until none is left. */
    void run(Load load) {
        state[0] = RUNS;
        running[0] = start(0);
        at(load.work(0, random), 0);
        noteRan(0, 0);
        while (left > 0) {
            Event e = events.remove();
            end = Math.max(end, e.at);
            lock.passed(e.at);
            spinners.passed(e.at);
            switch (state[e.p]) {
                case RUNS -> ended(e.p, e.at, load);
                case STARTS -> starts(e.p, e.at, load);
                case WAKES -> pick(e.p, e.at, load);
                case GIVES_UP -> giveUp(e.p, e.at, load);
                default -> throw new IllegalStateException("P " + e.p + " is idle");
            }
        }
        for (int thief = 0; thief < procs; thief++) {
            probes += P.NSTEALTRY.getOpaque(ps[thief]);
            steals += PStat.NSTEALOK.getOpaque(ps[thief]);
            for (int victim = 0; victim < procs; victim++) {
                stolen[places.between(thief, victim).ordinal()] += PStat.stolenFrom(ps[thief], victim);
            }
        }
    }

    private void at(long time, int p) {
        events.add(new Event(time, stamp++, p));
    }

    private long start(int depth) {
        long gp = slots.malg();
        depths.put(gp, depth);
        left++;
        return gp;
    }

    private void noteRan(int p, long now) {
        if (!ran[p]) {
            ran[p] = true;
            haveRun++;
            if (haveRun == (procs + 1) / 2) {
                spread = now;
            }
        }
    }

    /** Ends a goroutine's work: it starts its children, and ends. */
    private void ended(int p, long now, Load load) {
        depth[p] = depths.remove(running[p]);
        toStart[p] = load.children(procs, depth[p]);
        state[p] = STARTS;
        starts(p, now, load);
    }

    /** Starts one child in a step, so that others see it before the next. */
    private void starts(int p, long now, Load load) {
        if (toStart[p] == 0) {
            left--;
            if (left > 0) {
                pick(p, now, load);
            }
            return;
        }
        toStart[p]--;
        long overflows = PStat.NOVERFLOW.getOpaque(ps[p]);
        Runq.runqput(sched, ps[p], start(depth[p] + 1), true);
        long t = now + Costs.SPAWN;
        if (PStat.NOVERFLOW.getOpaque(ps[p]) != overflows) {
            t = lock.use(t, Costs.LOCK_LONG);
        }
        at(wakep(t), p);
    }

    private void begin(int p, long gp, long t, Load load) {
        if (spins[p]) {
            t = stopSpinning(p, t);
            if (Schedt.NPIDLE.getVolatile(sched) > 0 && anyWork()) {
                t = wakep(t);
            }
        }
        running[p] = gp & ~Runq.INHERIT;
        state[p] = RUNS;
        P.SCHEDTICK.setOpaque(ps[p], P.SCHEDTICK.get(ps[p]) + 1);
        noteRan(p, t);
        at(t + Costs.SWITCH + load.work(depths.get(running[p]), random), p);
    }

    private void pick(int p, long now, Load load) {
        long t = now;
        boolean globalFirst = P.SCHEDTICK.get(ps[p]) % GLOBAL_FIRST == 0;
        long gp = 0;
        if (globalFirst && Schedt.RUNQSIZE.getOpaque(sched) != 0) {
            t = lock.use(t, Costs.LOCK);
            gp = global(p, true);
        }
        gp = gp == 0 ? Runq.runqget(ps[p]) : gp;
        if (gp == 0 && Schedt.RUNQSIZE.getOpaque(sched) != 0) {
            t = lock.use(t, Costs.LOCK);
            gp = global(p, false);
        }
        if (gp == 0 && (spins[p] || maySpin())) {
            if (!spins[p]) {
                t = spinners.use(t, Costs.WORD);
                spins[p] = true;
                spinning++;
            }
            Thief thief = thieves[p];
            thief.cost = 0;
            gp = thief.steal(order, sched, ps[p], 0);
            t += thief.cost + (gp == 0 ? 0 : Costs.steal(places.between(p, thief.victim()), thief.stolen()));
        }
        if (gp != 0) {
            begin(p, gp, t, load);
        } else {
            state[p] = GIVES_UP;
            at(t, p);
        }
    }

    private long global(int p, boolean turn) {
        SchedLock.lock(sched);
        long gp = turn ? GlobalRunq.globrunqturn(sched, ps[p]) : GlobalRunq.globrunqget(sched, ps[p]);
        SchedLock.unlock(sched);
        return gp;
    }

    /** Makes the P idle; then its M searches once more, and takes it back if there is work. */
    private void giveUp(int p, long now, Load load) {
        long t = lock.use(now, Costs.LOCK);
        if (Schedt.RUNQSIZE.getOpaque(sched) != 0 || !Runq.runqempty(ps[p])) {
            pick(p, t, load);
            return;
        }
        SchedLock.lock(sched);
        Idle.pidleput(sched, ps[p], t);
        SchedLock.unlock(sched);
        state[p] = IDLE;
        if (spins[p]) {
            t = stopSpinning(p, t);
        }
        t = lock.use(t, Costs.LOCK);
        if (Schedt.RUNQSIZE.getOpaque(sched) != 0 || spinning == 0 && anyWork()) {
            SchedLock.lock(sched);
            long pp = Idle.pidleget(sched, t);
            SchedLock.unlock(sched);
            wake(P.ID.get(pp), lock.use(t, Costs.LOCK));
        }
    }

    private long stopSpinning(int p, long t) {
        spins[p] = false;
        spinning--;
        return spinners.use(t, Costs.WORD);
    }

    private boolean maySpin() {
        int busy = procs - Schedt.NPIDLE.getVolatile(sched);
        return 2 * spinning < busy && spinning < Math.max(1, procs / 2);
    }

    private boolean anyWork() {
        if (Schedt.RUNQSIZE.getOpaque(sched) != 0) {
            return true;
        }
        for (long pp : ps) {
            if (!Runq.runqempty(pp)) {
                return true;
            }
        }
        return false;
    }

    private long wakep(long now) {
        if (spinning != 0 || Schedt.NPIDLE.getVolatile(sched) == 0) {
            return now;
        }
        long t = lock.use(spinners.use(now, Costs.WORD), Costs.LOCK);
        SchedLock.lock(sched);
        long pp = Idle.pidlegetSpinning(sched, t);
        SchedLock.unlock(sched);
        wake(P.ID.get(pp), t + Costs.FUTEX);
        return t + Costs.FUTEX;
    }

    /** Wakes an M for the P, as a spinner. */
    private void wake(int p, long t) {
        wakeups++;
        spinning++;
        spins[p] = true;
        state[p] = WAKES;
        at(t + Costs.WAKE, p);
    }
}
