// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.spi.ToolProvider;

import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.Scopes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Java's structured concurrency: what ends a scope ends what its tasks wait for here. */
class StructuredTest {
    /** Needs preview features, which these tests are compiled without. */
    private static final String SCOPES = """
            import java.time.Duration;
            import java.util.List;
            import java.util.concurrent.Callable;
            import java.util.concurrent.StructuredTaskScope;
            import java.util.concurrent.StructuredTaskScope.Joiner;
            import java.util.concurrent.ThreadFactory;
            import java.util.concurrent.atomic.AtomicInteger;
            import org.gmp4j.*;
            import org.gmp4j.net.*;
            import org.gmp4j.sync.*;

            class Scopes {
                static final Chan<String> NOTHING = Chan.make();

                public static void main(String[] args) throws Exception {
                    try (Gmp gmp = Gmp.builder().build(); TcpListener l = TcpListener.listen("127.0.0.1:0")) {
                        WaitGroup never = new WaitGroup();
                        never.add(1);
                        List<Callable<String>> waits = List.of(NOTHING::recv, () -> {
                            NOTHING.send("x");
                            return "";
                        }, () -> {
                            Select.of().recv(NOTHING, v -> { }).recv(Chan.<String>make(), v -> { }).run();
                            return "";
                        }, () -> {
                            Go.sleep(Duration.ofDays(1));
                            return "";
                        }, () -> {
                            never.await();
                            return "";
                        }, () -> {
                            l.accept().close();
                            return "";
                        });
                        ThreadFactory ours = gmp.threadFactory("task ");
                        for (Callable<String> w : waits) {
                            System.out.println(first(ours, w) + ", " + timeout(ours, w) + ", " + unjoined(ours, w));
                        }
                    }
                }

                static Callable<String> counted(Callable<String> wait, WaitGroup begun, AtomicInteger ended) {
                    return () -> {
                        begun.done();
                        try {
                            return wait.call();
                        } catch (WaitInterruptedException | java.io.InterruptedIOException e) {
                            ended.incrementAndGet();
                            throw e;
                        }
                    };
                }

                /** One succeeds, which cancels the others. */
                static String first(ThreadFactory ours, Callable<String> wait) throws Exception {
                    AtomicInteger ended = new AtomicInteger();
                    WaitGroup begun = new WaitGroup();
                    begun.add(2);
                    String result;
                    try (var scope = StructuredTaskScope.open(Joiner.<String>ANY_SUCCESSFUL(),
                            c -> c.withThreadFactory(ours))) {
                        scope.fork(counted(wait, begun, ended));
                        scope.fork(counted(wait, begun, ended));
                        scope.fork(() -> {
                            begun.await();
                            return "first";
                        });
                        result = scope.join();
                    }
                    return result + " " + ended;
                }

                /** The scope's own limit of time. */
                static String timeout(ThreadFactory ours, Callable<String> wait) throws Exception {
                    AtomicInteger ended = new AtomicInteger();
                    WaitGroup begun = new WaitGroup();
                    begun.add(1);
                    try (var scope = StructuredTaskScope.open(Joiner.<String>awaitAllSuccessfulOrThrow(),
                            c -> c.withThreadFactory(ours).withTimeout(Duration.ofMillis(50)))) {
                        scope.fork(counted(wait, begun, ended));
                        begun.await();
                        scope.join();
                        return "joined";
                    } catch (Exception e) { // TimeoutException; from Java 27 on the cause of an ExecutionException.
                        String which = e + " " + e.getCause();
                        return (which.contains("Timeout") ? "timeout " : which) + ended;
                    }
                }

                /** Closed without a join, as when the owner throws. */
                static String unjoined(ThreadFactory ours, Callable<String> wait) {
                    AtomicInteger ended = new AtomicInteger();
                    WaitGroup begun = new WaitGroup();
                    begun.add(1);
                    try (var scope = StructuredTaskScope.open(Joiner.<String>awaitAllSuccessfulOrThrow(), c -> c.withThreadFactory(ours))) {
                        scope.fork(counted(wait, begun, ended));
                        begun.await();
                        throw new ArithmeticException();
                    } catch (ArithmeticException e) {
                        return "closed " + ended;
                    }
                }
            }
            """;

    @Test
    void closeEndsWhatTasksWaitFor(@TempDir Path folder) throws IOException {
        Path source = Files.writeString(folder.resolve("Scopes.java"), Scopes.ofThisJava(SCOPES));
        String path = folder + File.pathSeparator + System.getProperty("java.class.path");
        int compiled = ToolProvider.findFirst("javac").orElseThrow().run(System.out, System.err, "--enable-preview", "--release",
                String.valueOf(Runtime.version().feature()), "-Xlint:-preview", "-proc:none", "-cp", path, "-d",
                folder.toString(), source.toString());
        assertEquals(0, compiled);
        Result r = new ChildJvm(StructuredTest.class).with("--enable-preview", "-cp", path).runMain("Scopes");
        assertEquals("first 2, timeout 1, closed 1\n".repeat(6), r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
