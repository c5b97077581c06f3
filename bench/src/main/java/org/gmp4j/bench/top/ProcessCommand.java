// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.top;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.UndeclaredThrowableException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import javax.management.ReflectionException;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** A command about a running process. Whatever the process refuses is one sentence, and exit code 2. */
@Command(footer = {"", "The process loads its JMX agent, as for jconsole, and needs no option for it."})
abstract class ProcessCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Parameters(index = "0", paramLabel = "PID", description = "The process.")
    String pid;

    /** What is done with a process. */
    interface Action {
        /** Does it. A scheduler's own refusals may come out of it, and a failure of the connection. */
        void on(Process process) throws IOException, InterruptedException;
    }

    /** Does what the command is for. */
    abstract void run(Process process) throws IOException, InterruptedException;

    @Override
    public Integer call() throws InterruptedException {
        run(spec, pid, this::run);
        return 0;
    }

    /**
     * Attaches to a process and does something with it.
     *
     * @throws ParameterException with one sentence, when the process cannot be attached to, ends meanwhile, or refuses
     */
    static void run(CommandSpec spec, String pid, Action action) throws InterruptedException {
        try (Process process = Process.attach(pid)) {
            action.on(process);
        } catch (Process.Refused | IOException | IllegalArgumentException e) {
            throw bad(spec, e.getMessage(), e);
        } catch (IllegalStateException e) { // The scheduler's own sentence.
            throw bad(spec, "process " + pid + ": " + e.getMessage(), e);
        } catch (UndeclaredThrowableException e) {
            throw bad(spec, "process " + pid + (e.getCause() instanceof ReflectionException
                    ? " has another version of gmp4j, which cannot do this" : ", or a scheduler of it, has ended"), e);
        }
    }

    static ParameterException bad(CommandSpec spec, String sentence, Exception cause) {
        return new ParameterException(spec.commandLine(), sentence, cause);
    }

    /** Prints the text of a scheduler, under its name if there are several. */
    void print(Process.Bean b, List<Process.Bean> all, String text) {
        PrintWriter out = spec.commandLine().getOut();
        if (all.size() > 1) {
            out.println("scheduler " + b.name());
        }
        out.println(text.replaceAll("[\\p{Cc}&&[^\n\t]]", "?")); // Labels may have such characters.
        out.flush();
    }

    /** Writes the bytes of a scheduler: the first one's to the file, another's to FILE.NAME. */
    void write(Process.Bean b, List<Process.Bean> all, Path first, byte[] bytes) {
        Path file = b == all.getFirst() ? first : Path.of(first + "." + b.name().replace('/', '_'));
        try {
            Files.write(file, bytes);
        } catch (IOException e) {
            String why = e instanceof FileSystemException f && f.getReason() != null ? f.getReason() : e.toString();
            throw bad(spec, "cannot write " + file + ": " + why, e);
        }
    }
}
