package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;

import org.gmp4j.Go;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** What {@link Retake} tells {@link Sysmon} of when to look again. */
class RetakeTest {
    private static final int CALLS = 1_000;

    /** A system call whose P nobody wants is new to sysmon once: it does not keep it awake until it ends. */
    @Test
    void aSyscallIsNewOnce() {
        boolean noted = false;
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(Duration.ofMinutes(1)))) {
            for (int i = 0; i < CALLS && !noted; i++) {
                noted = gmp.call(() -> {
                    Machine m = Machine.of();
                    long pp = m.pp();
                    return Go.blocking(() -> notedWhileInSyscall(new Retake(m.s), pp));
                });
            }
        }
        assertTrue(noted, "a call that sysmon has seen is new all the time");
    }

    /** Until sysmon has noted the call, which it then does at a look, or has taken the P: only the first will do. */
    private static boolean notedWhileInSyscall(Retake retake, long pp) {
        int tick = P.syscalltickOpaque(pp);
        while (PStatus.get(pp) == PStatus.PSYSCALL && P.syscalltickOpaque(pp) == tick) {
            if (!retake.newSyscall()) {
                return tick != 0 && PStatus.get(pp) == PStatus.PSYSCALL && P.syscalltickOpaque(pp) == tick;
            }
        }
        return false;
    }
}
