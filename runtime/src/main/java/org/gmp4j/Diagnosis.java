// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.net.InetSocketAddress;
import java.util.List;

import org.gmp4j.check.Invariants;
import org.gmp4j.metrics.JmxBean;
import org.gmp4j.metrics.MetricsServer;
import org.gmp4j.proc.DebugVars;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.struct.Throw;

/** What shows a scheduler to the outside, or checks it, as its settings ask for. */
final class Diagnosis implements Runnable {
    private static final long CHECK_EVERY_MILLIS = 100;

    private final Scheduler s;
    private final MetricsServer server;
    private JmxBean bean; // Under the monitor; null when it is not registered.
    private boolean ended; // Likewise.

    private Diagnosis(Scheduler s, MetricsServer server) {
        this.s = s;
        this.server = server;
    }

    /**
     * The server, before there is a scheduler: so nothing is to be undone when there can be none.
     *
     * @return null for none
     * @throws IllegalArgumentException when it cannot listen where it is to
     */
    static MetricsServer serve(InetSocketAddress builders, DebugVars debug) {
        InetSocketAddress address = builders != null ? builders : debug.metrics();
        return address == null ? null : MetricsServer.shared(address);
    }

    /** Of a scheduler that was just made. */
    static Diagnosis begin(Scheduler s, MetricsServer server) {
        Diagnosis d = new Diagnosis(s, server);
        if (s.config.debug().jmx()) {
            d.registerNow();
        } else {
            s.setEverySecond(d);
        }
        if (s.config.debug().invariants()) {
            d.check();
        }
        return d;
    }

    /** The scheduler has ended. */
    void end() {
        if (server != null && !hasEnded()) {
            server.close();
        }
        synchronized (this) {
            ended = true;
            if (bean != null) {
                bean.unregister();
                bean = null;
            }
        }
    }

    private synchronized boolean hasEnded() {
        return ended;
    }

    // The bean

    private void registerNow() {
        try {
            register();
        } catch (NoClassDefFoundError e) {
            throw new IllegalStateException("jmx=1 needs the module java.management: start java with --add-modules java.management", e);
        }
    }

    /** On sysmon: registers it once anybody uses JMX, on a thread that may wait for the JDK's locks. */
    @Override
    public void run() {
        try {
            if (!JmxBean.wanted()) {
                return;
            }
            Thread t = new Thread(null, this::register, s.name() + "-jmx", 0, false);
            t.setDaemon(true);
            t.start(); // Without memory for it sysmon comes again.
            s.setEverySecond(null);
        } catch (NoClassDefFoundError noModule) {
            s.setEverySecond(null);
        }
    }

    private void register() {
        synchronized (this) {
            if (!ended) {
                bean = new JmxBean(s);
                bean.register();
            }
        }
    }

    // The invariants

    private void check() {
        s.setAtStop(() -> report(Invariants.check(s)));
        Thread t = new Thread(null, this::checkNowAndThen, s.name() + "-invariants", 0, false);
        t.setDaemon(true);
        s.endFirst(t);
        t.start();
    }

    private void checkNowAndThen() {
        try {
            while (!s.isClosing()) {
                report(Invariants.sample(s));
                Thread.sleep(CHECK_EVERY_MILLIS);
            }
        } catch (InterruptedException end) {
            return; // The scheduler is about to.
        }
    }

    private void report(List<String> broken) {
        if (!broken.isEmpty() && !s.isClosing()) {
            throw Throw.of("invariants of " + s.name() + " are broken: " + String.join("; ", broken));
        }
    }
}
