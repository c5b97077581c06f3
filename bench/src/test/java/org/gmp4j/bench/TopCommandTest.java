// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code gmp top} of processes that run a scheduler, and of those that do not. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TopCommandTest {
    @TempDir
    private Path dir;
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int top(Object... args) {
        return run("top", args);
    }

    private int run(String command, Object... args) {
        CommandLine root = GmpCommand.commandLine();
        root.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        List<String> line = new ArrayList<>(List.of(command));
        for (Object a : args) {
            line.add(a.toString());
        }
        return GmpCommand.execute(root, line.toArray(String[]::new));
    }

    /** With a goroutine that waits, or, with an argument, without a scheduler; until its input ends. */
    static final class Target {
        private Target() {
        }

        public static void main(String[] args) throws Exception {
            Gmp gmp = args.length > 0 ? null : Gmp.builder().procs(3).name("it,=\"\033s").build();
            Chan<Integer> never = Chan.make();
            if (gmp != null) {
                for (int i = 0; i < 1234; i++) {
                    gmp.go(() -> {
                        Integer _ = never.recv();
                    });
                }
            }
            System.out.println("ready");
            int _ = System.in.read();
            never.close();
            if (gmp != null) {
                gmp.close();
            }
        }
    }

    private static Process start(String... args) throws Exception {
        List<String> line = ChildJava.command(System.getProperty("java.class.path"), Target.class.getName());
        line.addAll(List.of(args));
        Process p = new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        BufferedReader said = p.inputReader();
        assertEquals("ready", said.readLine());
        return p;
    }

    private static void end(Process p) throws Exception {
        p.getOutputStream().close();
        assertEquals(0, p.waitFor());
    }

    @Test
    void aProcess() throws Exception {
        Process p = start();
        try {
            assertEquals(0, top("-n", 2, "-d", 0.2, p.pid()), err::toString);
            assertEquals("", err.toString());
            assertEquals(2, out.toString().split(Pattern.quote("process " + p.pid() + ", it,=\"?s: 3 Ps, "), -1).length - 1, out::toString);
            assertTrue(out.toString().contains(" 1,234  chan receive\n"), out::toString);
            assertEquals(1, out.toString().split("  a second    ", -1).length - 1, out::toString);
            assertTrue(out.toString().contains("\n      P2 "), out::toString);
            assertTrue(out.toString().chars().noneMatch(c -> c == '\033'), "for a terminal, and there is none");
        } finally {
            end(p);
        }
    }

    @Test
    void goroutines() throws Exception {
        Path file = dir.resolve("profile");
        Process p = start();
        try {
            assertEquals(0, run("goroutines", p.pid()), err::toString);
            assertTrue(out.toString().startsWith("goroutine profile: total 1234\n\n1234 goroutines [chan receive]:\n"), out::toString);
            out.getBuffer().setLength(0);
            assertEquals(0, run("goroutines", p.pid(), "--pprof", file), err::toString);
            assertEquals("", out.toString() + err);
            assertEquals(0x1f8b, ByteBuffer.wrap(Files.readAllBytes(file)).getShort() & 0xffff, "no gzip");
            assertEquals(2, run("goroutines", p.pid(), "--pprof", dir));
            assertTrue(err.toString().startsWith("gmp: cannot write " + dir), err::toString);
            err.getBuffer().setLength(0);
            assertEquals(2, run("goroutines", "one"));
            assertTrue(err.toString().startsWith("gmp: \"one\" is no process id"), err::toString);
        } finally {
            end(p);
        }
    }

    /** The command ends with it. */
    @Test
    void aProcessThatEnds() throws Exception {
        Process p = start();
        Thread ends = new Thread(() -> {
            while (!out.toString().contains("  a second    ")) {
                Thread.onSpinWait();
            }
            try {
                end(p);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        ends.start();
        assertEquals(0, top("-d", 0.1, p.pid()));
        ends.join();
        assertEquals("gmp: process " + p.pid() + " has ended.\n", err.toString());
    }

    /** The command ends when its output cannot be written, as behind head(1). Otherwise the class's limit of time ends the test. */
    @Test
    void theReaderEnds() throws Exception {
        Process p = start();
        CommandLine root = GmpCommand.commandLine();
        root.setOut(new PrintWriter(new Writer() {
            @Override
            public void write(char[] text, int from, int length) throws IOException {
                throw new IOException("Broken pipe");
            }

            @Override
            public void flush() {
            }

            @Override
            public void close() {
            }
        })).setErr(new PrintWriter(err, true));
        int _ = GmpCommand.execute(root, "top", "--delay=0.1", String.valueOf(p.pid()));
        end(p);
    }

    private void refused(String sentence, Object... args) {
        assertEquals(2, top(args));
        assertEquals("", out.toString());
        assertEquals(1, err.toString().lines().count(), err::toString);
        assertTrue(err.toString().startsWith("gmp: " + sentence), err::toString);
        err.getBuffer().setLength(0);
    }

    @Test
    void whatCannotBeRead() throws Exception {
        refused("\"one\" is no process id", "one");
        refused("\"-1\" is no process id", "--", -1);
        refused("\"0\" is no process id", 0);
        refused("there is no process 9999999999", 9_999_999_999L);
        refused("-n is 0: use 1 or more", "-n", 0, 1);
        refused("--delay is 0.0: use 0.1 to 3600 seconds", "-d", 0, 1);
        Process other = new ProcessBuilder("sleep", "1000").start();
        try {
            refused("process " + other.pid() + " is no JVM; ", other.pid());
            assertTrue(other.isAlive(), "looking at it ended it");
        } finally {
            other.destroyForcibly().waitFor();
        }
        Process none = start("none");
        try {
            refused("process " + none.pid() + " has no scheduler of gmp4j", none.pid());
        } finally {
            end(none);
        }
    }
}
