// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.print.Frames;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkState;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.JdkWait;
import org.gmp4j.struct.WaitReason;

/**
 * Profiles waits in the JDK: for locks, monitors, conditions and all else that parks a thread. Like Go's block profile, it leaves out
 * sleeps, and waits for sockets, selectors, pipes and processes. At intervals it takes a sample: it finds the goroutines that wait, and
 * adds the time since the last sample to the place of each. So a wait itself costs nothing, and a wait that has not ended counts too. A
 * wait that is shorter than the interval is seen with a probability in proportion to its length. So the times are right on average, but the
 * number of waits includes only waits during which a sample was taken. A place has the labels of its goroutines, and the label {@code wait}
 * with the reason of the wait.
 */
public final class WaitSampler extends Sampler {
    private static final String REASON = "wait";
    private static final long INTERVAL = 10_000_000;
    /**
     * The greatest number of stacks that one sample reads. If more goroutines wait, each stack that is read counts for several goroutines.
     */
    private static final int MOST_STACKS = 512;
    /** The least pause after a sample, as a multiple of the time that the sample took. */
    private static final int REST = 4;
    /** The greatest number of goroutines whose last wait is remembered. */
    private static final int MOST_REMEMBERED = 100_000;

    /** The wait in which each goroutine was seen last, by the goroutine's number. */
    private final Map<Long, Integer> seen = new HashMap<>();

    /** Makes a sampler of a scheduler. */
    public WaitSampler(Scheduler s) {
        super(s, INTERVAL, "gmp-waitprofile");
    }

    @Override
    long restAfter(long nanos) {
        return REST * nanos;
    }

    @Override
    void look(long elapsed) {
        if (s.hidesStacks()) {
            return; // A search for leaks has stopped the world.
        }
        List<Long> waiting = new ArrayList<>(); // It has no stacks, because references to them would hide leaks from a search.
        s.slots.forEach(gp -> {
            if (GSlots.stack(gp) instanceof GStack st && st.scheduler() == s && waits(gp, st)) { // Another scheduler may have the G by now.
                waiting.add(gp);
            }
        });
        int step = (waiting.size() + MOST_STACKS - 1) / MOST_STACKS;
        for (int i = step < 2 ? 0 : ThreadLocalRandom.current().nextInt(step); i < waiting.size(); i += step) {
            long gp = waiting.get(i);
            if (GSlots.stack(gp) instanceof GStack st && st.scheduler() == s) {
                add(gp, st, elapsed * step);
            }
        }
    }

    /** Returns whether a goroutine waits in the JDK, pinned or not. */
    private static boolean waits(long gp, GStack st) {
        int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
        boolean parked = status == GStatus.GWAITING ? G.WAITREASON.getOpaque(gp) == WaitReason.JDK.ordinal() : JdkState.isPinned(st);
        return parked && JdkState.wait(st) != JdkState.Wait.NONE;
    }

    private void add(long gp, GStack st, long nanos) {
        StackTraceElement[] all = st.thread.getStackTrace();
        JdkState.Wait state = JdkState.wait(st);
        Object blocker = LockSupport.getBlocker(st.thread);
        int wait = st.jdkWaits();
        if (all.length == 0 || JdkWait.of(all) != null || !waits(gp, st)) {
            return; // The goroutine may have been woken meanwhile, and the frames may not show a wait.
        }
        Class<?> type = blocker == null ? null : blocker.getClass();
        Map<String, String> labels = st.labels();
        Map<String, String> labelled = new HashMap<>(labels == null ? Map.of() : labels);
        labelled.put(REASON, JdkWait.text(JdkWait.of(state, type, null), type));
        if (seen.size() >= MOST_REMEMBERED) {
            seen.clear();
        }
        Integer before = seen.put(G.GOID.get(gp), wait);
        boolean another = before == null || before != wait;
        found.add(Frames.users(all, s.config.debug().system()), labelled, another ? 1 : 0, nanos);
    }
}
