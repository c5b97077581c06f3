// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.util.List;

import org.gmp4j.bench.measure.Others;
import org.gmp4j.bench.report.Format;

/** How the samples are taken, and what to make of them. */
final class Texts {
    /**
     * One of them.
     *
     * @param title what it is about
     * @param text one paragraph
     */
    record Paragraph(String title, String text) {
    }

    private Texts() {
    }

    static final String FLOORS = "Ring operations of one P beside the same ring in C11 atomics (medians of slices)";
    static final String STEALS = "Steals: time for the whole batch";
    static final String WAKES = "Wake and handoff (c.: corrected for coordinated omission)";
    static final String IDLE = "CPU used while no goroutine has anything to do (100 % is one CPU)";

    /** Returns all paragraphs. */
    static List<Paragraph> all(Report report) {
        return List.of(
                paragraph("steal", """
                    runqsteal on off-heap struct p's that no scheduler owns, by goroutines on pinned Ms. The victim's
                    ring holds 2b-1 Gs before b are taken; a failed probe finds an empty one. Same CPU: sixteen thieves
                    rob one victim each between two readings of the clock, and the clock's cost is taken off; a sample
                    is the mean of the sixteen, so these are percentiles of means. The C functions do the same in
                    slices between ours. Other CPU: the victims' owner on one P fills sixteen rings, the thief on
                    another P robs them, and each steal is timed on its own, the clock's cost taken off; this is what a
                    steal costs when the lines come from another CPU's cache. How far apart two CPUs are decides these
                    figures, and a hypervisor may move them."""),
                paragraph("wake", """
                    From just before go f() to f's first instruction. The parent does not give up its P until f has
                    run, so f must start on another P, whose M spins or sleeps as the policy says; a sample in which f
                    ran on the parent's M is left out (%s). Gap: how long the parent waits, busy, from one f's first
                    instruction to the next go. One reading of the clock is part of each sample."""
                    .formatted(discarded(report, Run.Kind.WAKE))),
                paragraph("handoff", """
                    From just before a send on an unbuffered channel to the receiver having the value. The receiver is
                    parked in its receive, having last run on another P, and must run on another P again because the
                    sender keeps its own; others are left out (%s). Gap: from when the receiver is seen parked to the
                    send.""".formatted(discarded(report, Run.Kind.HANDOFF))),
                paragraph("coordinated omission", """
                    Every loop here is closed: the next sample begins when the last is complete. A stall of 10 ms is
                    one long sample, while requests that arrive on their own schedule would all have met it; under
                    such a load the high percentiles are worse than these. Where there is a gap, the columns marked c.
                    add what a schedule of one sample each gap + p50 would have seen during each long sample
                    (HdrHistogram's correction). Without a gap there is no schedule to hold it against, and steals are
                    costs, not waits: both stay as they are. Medians are hardly touched by any of this."""),
                paragraph("reading it", Tables.FEW + """
                     marks a percentile that fewer than ten samples lie beyond: it may be one accident. What disturbs
                    the machine (other processes, interrupts, its hypervisor, the JIT and the collector) is in the tail
                    and is not filtered out, but a run in which others had more than %d %% of the CPUs is taken once
                    more, if it takes long enough for the kernel to tell, and no more than %d runs are. CPU used while
                    idle is the whole process's; the line without a scheduler is what the JVM takes by itself."""
                        .formatted(Others.DISTURBED, Measurement.MOST_REPEATED)));
    }

    private static Paragraph paragraph(String title, String text) {
        return new Paragraph(title, text.strip().replaceAll("\\s+", " "));
    }

    private static String discarded(Report report, Run.Kind kind) {
        long n = report.of(kind).stream().mapToLong(Result::discarded).sum();
        return n == 0 ? "there was none" : Format.count(n) + " here";
    }
}
