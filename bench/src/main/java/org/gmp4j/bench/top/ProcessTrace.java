// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.top;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** A trace of a running process, for {@code gmp trace PID}. */
public final class ProcessTrace {
    private ProcessTrace() {
    }

    /**
     * Has a process trace its schedulers for some seconds, and waits for that.
     *
     * @param file the file, which the process writes
     * @throws ParameterException with one sentence, when the process cannot be attached to, ends meanwhile, or refuses
     */
    public static void record(CommandSpec spec, String pid, Path file, double seconds) throws InterruptedException {
        boolean found = Files.exists(file);
        boolean done = false;
        try {
            ProcessCommand.run(spec, pid, p -> p.beans().getFirst().bean().trace(file.toAbsolutePath().toString(), seconds));
            done = true;
        } finally {
            if (!done && !found) {
                deleteEmpty(file);
            }
        }
        if (!Files.exists(file)) {
            throw new ParameterException(spec.commandLine(), "process " + pid + " has written " + file + " in a file system of its own, "
                    + "as in a container: use --out with a folder that both have");
        }
    }

    /** Deletes the file that a process has made, which has ended before it had anything to write. */
    private static void deleteEmpty(Path file) {
        try {
            if (Files.size(file) == 0) {
                Files.delete(file);
            }
        } catch (IOException gone) {
            return; // There was none, or it cannot be deleted; the first failure is told.
        }
    }
}
