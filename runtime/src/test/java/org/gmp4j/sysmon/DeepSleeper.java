// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.policy.Pacing;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.Schedt;

/** The sysmon of an idle scheduler, brought into a sleep that lasts so long that only a ring can have ended it. */
public final class DeepSleeper {
    private final Sysmon sysmon;
    private final int unrung;

    private DeepSleeper(Sysmon sysmon) {
        this.sysmon = sysmon;
        unrung = sysmon.unrung;
    }

    /** Returns when the scheduler's sysmon sleeps for long. */
    public static DeepSleeper of(Scheduler s) throws InterruptedException {
        Sysmon sysmon = (Sysmon) s.monitor();
        while (Schedt.SYSMONWAIT.getAcquire(s.sched) != Schedt.SYSMON_SLEEPS || sysmon.sleeps < Pacing.LONG_SLEEP) {
            sysmon.deepSleep = Pacing.LONG_SLEEP; // Of the sleep after the present one.
            Thread.sleep(1);
        }
        return new DeepSleeper(sysmon);
    }

    /** Whether no such sleep has ended by itself: then sysmon was rung for all that it has done since. */
    public boolean wasRung() {
        return sysmon.unrung == unrung;
    }
}
