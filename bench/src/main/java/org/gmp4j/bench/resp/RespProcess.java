// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.resp;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.gmp4j.bench.service.Proc;

/** A server that runs. */
public final class RespProcess implements AutoCloseable {
    private static final long END_SECONDS = 20;

    private final Process process;
    private final int port;

    /**
     * Starts one and waits until it listens.
     *
     * @param cpu its CPU; -1 for all of this thread's
     */
    public RespProcess(RespServer server, List<String> command, int cpu) throws IOException {
        List<String> all = server.onFreePort(command);
        ProcessBuilder b = new ProcessBuilder(all).redirectError(Redirect.INHERIT);
        if (cpu >= 0) {
            b.environment().put("GOMAXPROCS", "1");
        }
        process = cpu < 0 ? b.start() : Proc.start(b, cpu);
        boolean listens = false;
        try {
            BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
            String line;
            do {
                line = out.readLine();
                if (line == null) {
                    throw new IOException(server.title() + " ended early");
                }
            } while (!line.contains(server.ready()));
            port = Integer.parseInt(server == RespServer.REDIS ? all.get(all.indexOf("--port") + 1)
                    : line.substring(server.ready().length()));
            listens = true;
        } finally {
            if (!listens) {
                process.destroyForcibly().onExit().join();
            }
        }
    }

    /** Returns the port on which it listens. */
    public int port() {
        return port;
    }

    long pid() {
        return process.pid();
    }

    /**
     * Asks it to end.
     *
     * @return its exit code
     */
    public int terminate() throws IOException, InterruptedException {
        process.destroy();
        if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("the server has not ended " + END_SECONDS + " s after SIGTERM");
        }
        return process.exitValue();
    }

    /** Ends it now. */
    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
