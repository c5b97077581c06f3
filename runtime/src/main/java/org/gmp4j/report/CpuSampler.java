// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.gmp4j.ffi.OsThread;
import org.gmp4j.print.Frames;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;

/** A CPU profile. At intervals it samples which goroutine each M runs, and where. {@code metrics.CpuProfiler} says how exact that is. */
public final class CpuSampler extends Sampler {
    /** A goroutine without a P is sampled if its thread was on a CPU for at least the interval divided by this number. */
    private static final int GOOD_PART = 4;

    /** The CPU times, ns, of the Ms whose goroutines ran without a P at the last sample. Only the sampling thread uses this map. */
    private final Map<Machine, Long> cpu = new HashMap<>();

    /** Makes a sampler of a scheduler, with a sample every {@code interval} ns. */
    public CpuSampler(Scheduler s, long interval) {
        super(s, interval, "gmp-cpuprofile");
    }

    @Override
    void look(long elapsed) {
        List<Thread> running = new ArrayList<>();
        List<GStack> stacks = new ArrayList<>();
        for (Machine m : s.machines()) {
            look(m, running, stacks);
        }
        for (int i = 0; i < running.size(); i++) {
            StackTraceElement[] all = running.get(i).getStackTrace();
            GStack st = stacks.get(i);
            if (all.length != 0) {
                found.add(Frames.users(all, s.config.debug().system()), st.labels(), 1, interval);
            }
        }
    }

    /**
     * Samples an M. Reading the structs of Ms and Gs is safe, because they are never unmapped. A value that is no longer current shows a
     * goroutine that ran shortly before.
     */
    private void look(Machine m, List<Thread> running, List<GStack> stacks) {
        long gp = M.CURG.getOpaque(m.mp);
        if (gp != 0 && (uses(m) || (GStatus.readgstatus(gp) & ~GStatus.GSCAN) == GStatus.GRUNNING) && G.GOID.get(gp) != 0
                && GSlots.stack(gp) instanceof GStack st && st.scheduler() == s && st.thread != Thread.currentThread()) {
            running.add(st.thread);
            stacks.add(st);
        }
    }

    /** Returns whether the M runs a goroutine without a P, and has used the CPU since the last sample. */
    private boolean uses(Machine m) {
        if (!m.astray()) {
            cpu.remove(m);
            return false;
        }
        long now = OsThread.cpuNanos((int) M.PROCID.getOpaque(m.mp));
        Long before = cpu.put(m, now);
        return before != null && now - before >= interval / GOOD_PART;
    }
}
