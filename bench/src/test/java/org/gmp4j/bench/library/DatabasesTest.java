// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** HikariCP with H2, with pgjdbc and a real PostgreSQL, and with MariaDB's driver and server, used by goroutines: see {@link Bank}. */
class DatabasesTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void h2InMemory(int procs) throws Exception {
        Bank.work("jdbc:h2:mem:bank" + procs + ";LOCK_TIMEOUT=60000", "sa", procs);
    }

    /** Files: H2's store blocks in the kernel. */
    @Test
    void h2OnDisk(@TempDir Path dir) throws Exception {
        Bank.work("jdbc:h2:file:" + dir.resolve("bank") + ";LOCK_TIMEOUT=60000", "sa", 1);
    }

    @Test
    void postgres() throws Exception {
        try (Postgres postgres = Postgres.start()) {
            Bank.work(postgres.url(), Postgres.USER, 1);
            Bank.work(postgres.url(), Postgres.USER, 2);
        }
    }

    @Test
    void mariaDb() throws Exception {
        try (MariaDb mariaDb = MariaDb.start()) {
            Bank.work(mariaDb.url(), MariaDb.USER, 1);
            Bank.work(mariaDb.url(), MariaDb.USER, 2);
        }
    }
}
