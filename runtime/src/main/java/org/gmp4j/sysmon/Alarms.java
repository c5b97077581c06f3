// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.ffi.Alarm;
import org.gmp4j.proc.Preempt;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.proc.SliceClock;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * The alarms of Ms, which ring for sysmon when a time slice has lasted too long, so that it need not look whether one has.
 *
 * <p>Where requests take less than a quantum, sysmon would wake up once a quantum to see that another slice is on: 1,100 times a second
 * with a quantum of 1 ms beside 2,000 requests of 20 µs, 2.4 % of a CPU, and as much again for the switches. An M that begins a slice
 * puts its alarm off instead ({@link SliceClock}), by a system call of 3 µs, which not each slice needs. It rings when a slice lasts, or
 * when none has begun for that long: 130 times a second there.
 *
 * <p>Each M has its own, opened when sysmon first sees it with a P, for as long as the scheduler lives. Where they do not work (another
 * handler has the signal, the kernel gives no more timers) sysmon looks as often as it must.
 *
 * <p>They are an experiment, for {@code -Dgmp.alarms=on}. An alarm that is lost does no lasting harm: sysmon sleeps for 60 ms at most.
 */
final class Alarms {
    private static final int NONE = -1;
    private static final int MOST_A_P = 16;
    /** With a shorter quantum an alarm would be set for almost each slice, and cost as much as it saves. */
    private static final long LEAST = 500_000;
    /** An M that sleeps in the kernel with its P begins no slice. That is to be noticed earlier than a quantum of 10 ms allows. */
    private static final long LONGEST = 2_500_000;

    private final Scheduler s;
    private final boolean wanted;
    private final long nanos;
    /** 0 while they do not work. */
    private int signal;
    /** Those that have one, and how many they are. */
    private @Nullable SliceClock first;
    private int n;

    Alarms(Scheduler s) {
        this.s = s;
        nanos = Math.min(s.config.leastQuantumNanos(), LONGEST);
        wanted = "on".equals(System.getProperty("gmp.alarms")) && nanos >= LEAST && !s.config.debug().asyncpreemptoff();
        if (wanted) {
            int _ = Alarm.set(NONE, 1); // Its class is loaded now: later there may be no memory for that.
        }
    }

    /** On sysmon's thread, at its beginning. */
    void begin() {
        int signo = wanted ? Preempt.harmlessSignal() : 0;
        if (signo != 0 && Alarm.works(signo)) {
            signal = signo;
        }
    }

    boolean work() {
        return signal != 0;
    }

    /** An M is seen with a P. */
    void give(SliceClock clock) {
        if (signal == 0 || clock.hasAlarm() || n >= MOST_A_P * Schedt.gomaxprocsOpaque(s.sched)) {
            return; // Ms without one wake sysmon. The kernel counts timers among the signals that all processes of a user may have.
        }
        int alarm = Alarm.open(signal, Schedt.sysmonnoteAddress(s.sched));
        if (alarm < 0) {
            close();
            return;
        }
        clock.setAlarm(alarm, nanos, first);
        first = clock;
        n++;
    }

    /** Nothing runs. What begins is timed, so that its alarm is set: else an M that takes a P wakes sysmon. */
    void allTimed() {
        for (SliceClock c = first; c != null; c = c.nextWithAlarm()) {
            c.timed();
        }
    }

    /** After the signal was looked at: other code may have put its own handler in the place of ours. */
    void follow() {
        if (signal != 0 && signal != Preempt.harmlessSignal()) {
            close();
        }
    }

    /** From here on they do not work. */
    void close() {
        signal = 0;
        for (SliceClock c = first; c != null; c = c.nextWithAlarm()) {
            Alarm.close(c.takeAlarm());
        }
        first = null;
        n = 0;
    }
}
