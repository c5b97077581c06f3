// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.top;

import java.io.IOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code gmp profile PID}. */
@Command(
        name = "profile",
        description = "Profile a running process for some seconds: where its goroutines use the CPUs, wait, or hold locks for which "
                + "others wait.")
public final class ProfileCommand extends ProcessCommand {
    @Option(
            names = "--kind",
            paramLabel = "KIND",
            defaultValue = "cpu",
            description = "cpu; block: waits for channels, locks, monitors and the like, of gmp4j and of the JDK; or mutex: unlocks of "
                    + "gmp4j's locks for which a goroutine waited (default: ${DEFAULT-VALUE}).")
    private String kind;

    @Option(names = "--seconds", paramLabel = "SECONDS", defaultValue = "10", description = "For how long (default: ${DEFAULT-VALUE}).")
    private double seconds;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "Write it to this file instead, in the format of pprof; that of a second scheduler to FILE.NAME.")
    private Path file;

    /** Makes the command; picocli calls this. */
    public ProfileCommand() {
    }

    @Override
    void run(Process process) throws IOException, InterruptedException {
        List<Process.Bean> beans = process.beans();
        List<FutureTask<Object>> taken = new ArrayList<>();
        for (Process.Bean b : beans) { // All at the same time.
            FutureTask<Object> task = new FutureTask<>(
                    () -> file == null ? b.bean().profile(kind, seconds) : b.bean().profilePprof(kind, seconds));
            taken.add(task);
            Thread t = new Thread(task, "profile");
            t.setDaemon(true);
            t.start();
        }
        boolean any = false;
        for (int i = 0; i < beans.size(); i++) {
            Object profile = result(taken.get(i));
            if (profile instanceof byte[] bytes) {
                write(beans.get(i), beans, file, bytes);
            } else {
                print(beans.get(i), beans, profile.toString());
                any |= profile.toString().lines().count() > 1;
            }
        }
        if (file == null && !any) {
            spec.commandLine().getErr().println("gmp: nothing was seen in that time" + (kind.equals("mutex")
                    ? "; of the JDK's own locks it tells nothing, but '--kind block' has who waits for them." : "."));
        }
    }

    private static Object result(FutureTask<Object> task) throws InterruptedException {
        try {
            return task.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException refused ? refused : new UndeclaredThrowableException(e.getCause());
        }
    }
}
