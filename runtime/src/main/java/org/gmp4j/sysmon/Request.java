// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.proc.Monitor;
import org.gmp4j.proc.Processor;

/** Sysmon's latest request to hand a P off, until it is answered: what was asked, and what shows the answer. */
final class Request implements Monitor.Watched {
    /** The M that was asked; 0 for none. */
    long mp;
    /** The time slice, and the goroutine that had it. */
    int tick;
    long gp;
    long goid;
    /** When, by nanoTime. */
    long asked;
    /** Whether it ran; else it slept in the kernel. */
    boolean running;
    /** How often the M's handler had given a P up before. */
    long handoffs;

    static Request of(Processor pr) {
        return (Request) pr.watched;
    }
}
