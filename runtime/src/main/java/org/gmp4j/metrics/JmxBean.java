// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;

import javax.management.JMException;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;

import org.gmp4j.proc.Scheduler;
import org.gmp4j.proc.Traceback;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.sysmon.Stalls;

/** The {@link GmpMXBean} of a scheduler. */
public final class JmxBean implements GmpMXBean {
    private final Scheduler s;

    /** Of a scheduler. */
    @SuppressWarnings("exports")
    public JmxBean(Scheduler s) {
        this.s = s;
    }

    /**
     * Whether anybody uses JMX. Takes no lock, and loads one class of it.
     *
     * @throws NoClassDefFoundError when there is no module {@code java.management}
     */
    public static boolean wanted() {
        return JdkThreads.initialized(MBeanServerFactory.class);
    }

    /** Registers it, until {@link #unregister}. */
    public void register() {
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(this, name());
        } catch (JMException e) {
            throw new IllegalStateException("no bean of " + s.name() + " can be registered", e);
        }
    }

    /** Takes it back. */
    public void unregister() {
        try {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(name());
        } catch (JMException gone) {
            return; // Somebody else has.
        }
    }

    private ObjectName name() throws JMException {
        return new ObjectName("org.gmp4j:type=Gmp,name=" + s.name());
    }

    @Override
    public String getName() {
        return s.name();
    }

    @Override
    public int getProcs() {
        return s.gomaxprocs();
    }

    @Override
    public int getGoroutines() {
        return s.gcount();
    }

    @Override
    public int getThreads() {
        return s.mcount();
    }

    @Override
    public long getStalls() {
        return Stalls.of(s).blocked() + Stalls.of(s).ran();
    }

    @Override
    public Map<String, Double> getMetrics() {
        Map<String, Double> numbers = new TreeMap<>();
        new Metrics(s).read().forEach((name, value) -> {
            if (value instanceof Number n) {
                numbers.put(name, n.doubleValue());
            }
        });
        return numbers;
    }

    @Override
    public String prometheus() {
        return Metrics.prometheus();
    }

    @Override
    public String dump() {
        return Traceback.all(s);
    }
}
