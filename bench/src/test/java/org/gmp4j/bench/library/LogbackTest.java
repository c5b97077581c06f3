// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.FileAppender;
import org.gmp4j.Go;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.Logger;
import org.slf4j.spi.MDCAdapter;

/** logback: one file that many goroutines write to, each with its name and its diagnostic context, a thread-local. */
class LogbackTest {
    private static final int WRITERS = 50;
    private static final int LINES = 100;

    @ParameterizedTest
    @CsvSource({"1, false", "2, false", "1, true", "2, true"})
    void everyLineOnce(int procs, boolean async, @TempDir Path dir) throws Exception {
        Path file = dir.resolve("log");
        LoggerContext context = new LoggerContext();
        MDCAdapter mdc = new LogbackMDCAdapter();
        context.setMDCAdapter(mdc);
        Logger logger = logger(context, file, async);
        try (TestScheduler scheduler = new TestScheduler(procs)) {
            scheduler.each(WRITERS, number -> {
                Thread.currentThread().setName("writer-" + number);
                mdc.put("writer", Integer.toString(number));
                for (int i = 0; i < LINES; i++) {
                    logger.info("line {}", i);
                    if (i % 7 == number % 7) {
                        Go.gosched();
                    }
                }
            });
        }
        context.stop(); // Writes what the asynchronous appender still has.
        int[] next = new int[WRITERS];
        for (String line : Files.readAllLines(file)) {
            String[] word = line.split(" ");
            int writer = Integer.parseInt(word[0]);
            assertEquals(writer + " writer-" + writer + " line " + next[writer], line);
            next[writer]++;
        }
        for (int lines : next) {
            assertEquals(LINES, lines);
        }
    }

    private static Logger logger(LoggerContext context, Path file, boolean async) {
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%X{writer} %thread %msg%n");
        encoder.start();
        FileAppender<ILoggingEvent> toFile = new FileAppender<>();
        toFile.setContext(context);
        toFile.setFile(file.toString());
        toFile.setEncoder(encoder);
        toFile.start();
        Appender<ILoggingEvent> appender = toFile;
        if (async) {
            AsyncAppender queue = new AsyncAppender();
            queue.setContext(context);
            queue.setQueueSize(64); // Full most of the time: writers wait.
            queue.setDiscardingThreshold(0);
            queue.addAppender(toFile);
            queue.start();
            appender = queue;
        }
        ch.qos.logback.classic.Logger logger = context.getLogger("test");
        logger.addAppender(appender);
        return logger;
    }
}
