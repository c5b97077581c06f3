// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

import org.gmp4j.stack.Host;
import org.gmp4j.struct.Throw;
import org.gmp4j.testing.NoHalt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The checks of lock order, on a thread that passes for an M. */
@ExtendWith(NoHalt.class)
class LockRankTest {
    private static final class FakeM extends Host {
    }

    @BeforeEach
    void checked() {
        assertTrue(LockRank.CHECK, "the tests run with -Dgmp.lockrank=true");
    }

    private static void onM(Runnable body) {
        Throwable[] thrown = new Throwable[1];
        Thread t = new Host.HostThread(new FakeM(), () -> {
            try {
                body.run();
            } catch (Throwable e) {
                thrown[0] = e;
            }
        }, "fake M", 0);
        t.start();
        try {
            t.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (thrown[0] != null) {
            throw new AssertionError(thrown[0]);
        }
    }

    @Test
    void upwardsIsFine() {
        onM(() -> {
            LockRank.acquire(LockRank.HCHAN);
            LockRank.acquire(LockRank.HCHAN); // A select locks several.
            LockRank.acquire(LockRank.TIMERS);
            LockRank.acquire(LockRank.SCHED);
            LockRank.release(LockRank.HCHAN);
            LockRank.release(LockRank.SCHED);
            LockRank.release(LockRank.TIMERS);
            LockRank.mayPark(1);
            LockRank.release(LockRank.HCHAN);
            LockRank.mayPark(0);
        });
    }

    @Test
    void downwardsIsNot() {
        onM(() -> {
            LockRank.acquire(LockRank.SCHED);
            Throw t = assertThrows(Throw.class, () -> LockRank.acquire(LockRank.TIMERS));
            assertEquals("lock rank violation: taking rank 50 while holding [60]", t.getMessage());
            assertThrows(Throw.class, () -> LockRank.acquire(LockRank.SCHED), "twice the same");
        });
    }

    @Test
    void whatIsNotHeldIsNotGivenBack() {
        onM(() -> assertThrows(Throw.class, () -> LockRank.release(LockRank.SCHED)));
    }

    /** G5. */
    @Test
    void noParkWhileLocked() {
        onM(() -> {
            LockRank.acquire(LockRank.HCHAN);
            LockRank.mayPark(1);
            assertThrows(Throw.class, () -> LockRank.mayPark(0));
        });
    }

    @Test
    void aThreadThatIsNoMIsNotChecked() {
        LockRank.acquire(LockRank.SCHED);
        LockRank.acquire(LockRank.HCHAN);
        LockRank.release(LockRank.SUDOG);
    }

    /** HACKING.md names all ranks in their order. */
    @Test
    void thePageListsThem() throws IOException, IllegalAccessException {
        Map<Integer, String> ranks = new TreeMap<>();
        for (Field f : LockRank.class.getFields()) {
            if (f.getType() == int.class) {
                ranks.put(f.getInt(null), "`" + f.getName() + "`");
            }
        }
        String line = String.join(" < ", ranks.values());
        assertTrue(Files.readAllLines(Path.of("HACKING.md")).contains(line), line);
    }
}
