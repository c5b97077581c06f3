// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The system's C compiler, and other programs, for tests that compare Java with C. */
final class Cc {
    /** c-shims/include, seen from this module's directory, where Maven runs its tests. */
    static final Path INCLUDE = Path.of(System.getProperty("basedir", ""))
            .toAbsolutePath()
            .resolve("../c-shims/include")
            .normalize();

    record Result(int exit, String out) {
    }

    private Cc() {
    }

    /** Compiles a program with the headers of {@code include} and gives what it prints. */
    static List<String> output(Path dir, Path include, String source) throws IOException, InterruptedException {
        Path program = dir.resolve("program");
        compile(dir, source, "cc", "-std=gnu11", "-Wall", "-Werror", "-I" + include, "-o", program.toString());
        Result r = run(List.of(program.toString()));
        if (r.exit != 0) {
            throw new AssertionError("exit " + r.exit + ": " + r.out);
        }
        return r.out.lines().toList();
    }

    /** Compiles a shared library. */
    static Path library(Path dir, String source) throws IOException, InterruptedException {
        Path library = dir.resolve("libtest.so");
        compile(dir, source, "cc", "-std=gnu11", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library.toString());
        return library;
    }

    static void compile(Path dir, String source, String... command) throws IOException, InterruptedException {
        Path file = Files.writeString(dir.resolve("source.c"), source);
        List<String> full = new ArrayList<>(List.of(command));
        full.add(file.toString());
        Result r = run(full);
        if (r.exit != 0) {
            throw new AssertionError("the C compiler says\n" + r.out);
        }
    }

    static boolean exists(String command) {
        try {
            return run(List.of(command, "--version")).exit == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Runs a program to its end, at most a minute; standard error is part of the output. */
    static Result run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String out = new String(process.getInputStream().readAllBytes());
        if (!process.waitFor(1, TimeUnit.MINUTES)) {
            process.destroyForcibly();
            throw new AssertionError(command + " does not end");
        }
        return new Result(process.exitValue(), out);
    }
}
