// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Reports;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkContainer;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.GSlots;

/** The reports of all schedulers: {@link Fatal}, {@link Uncaught} and {@link Goroutines}. Thread-safe. */
public final class Report implements Reports {
    /** The only instance. */
    public static final Reports ALL = new Report();

    private Report() {
    }

    @Override
    public void prepare() {
        Fatal.install();
        Uncaught.prepare();
    }

    @Override
    public Error fatal(Scheduler s, String before, String message) {
        return Fatal.fatal(s, before, message);
    }

    @Override
    public void broken(Scheduler s, Throwable t) {
        Fatal.broken(s, t);
    }

    @Override
    public void uncaught(Stack st, Throwable t) {
        Uncaught.report((GStack) st, t);
    }

    @Override
    public void escaped(Throwable t) {
        Uncaught.reportEscaped(t);
    }

    @Override
    public JdkContainer container(String scheduler, GSlots slots) {
        return new Goroutines(scheduler, slots);
    }
}
