// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each {@link FrameworkService}, with the agent's option {@code default} and without, answers the same, on goroutines with the flag, and
 * stops on SIGTERM as before: the request under way is answered.
 */
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServicesByOneFlagTest {
    @TempDir
    static Path folder;

    private static OneFlag with;

    @BeforeAll
    static void jars() throws Exception {
        with = new OneFlag(folder);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "JETTY")
    void answersAndStops(FrameworkService service) throws Exception {
        answersAndStops(service, service.flags(with, "schedtrace=500"), true);
    }

    /** The services and the clients of this test are right, whatever the scheduler. */
    @Tag("long")
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"JETTY", "WOVEN"})
    void answersAndStopsWithoutTheFlag(FrameworkService service) throws Exception {
        answersAndStops(service, OneFlag.WITHOUT, false);
    }

    private static void answersAndStops(FrameworkService service, List<String> flags, boolean goroutines) throws Exception {
        try (RunningService running = new RunningService(OneFlag.java(flags, service.command(with)))) {
            running.answersAndStops(goroutines);
        }
    }
}
