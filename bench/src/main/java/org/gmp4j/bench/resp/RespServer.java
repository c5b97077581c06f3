// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.resp;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

import org.gmp4j.bench.measure.JavaCommand;
import org.gmp4j.bench.peers.Toolchains;

/** A server that speaks Redis' protocol. All but the last are of one make: the same protocol, commands and store. */
public enum RespServer {
    /** Our sockets on our scheduler. */
    NET("net", "gmp4j, org.gmp4j.net", "net", "gmp"),
    /** The JDK's sockets on our scheduler. */
    SOCKET("socket", "gmp4j, java.net.Socket", "socket", "gmp"),
    /** The JDK's sockets on its own scheduler. */
    JDK("jdk", "JDK, java.net.Socket", "socket", "jdk"),
    /** The twin in Go. */
    GO("go", "Go"),
    /** The real one. */
    REDIS("redis", "redis-server");

    private static final String EXAMPLE = "bench/examples/resp";

    private final String key;
    private final String title;
    private final List<String> arguments;

    RespServer(String key, String title, String... arguments) {
        this.key = key;
        this.title = title;
        this.arguments = List.of(arguments);
    }

    /** Returns the name in options. */
    public String key() {
        return key;
    }

    /** Returns the name for people. */
    public String title() {
        return title;
    }

    /** Returns whether it is this project's. */
    boolean isOurs() {
        return this == NET || this == SOCKET;
    }

    /** Returns the text that its output has once it listens. */
    String ready() {
        return this == REDIS ? "Ready to accept connections" : "ready on ";
    }

    /**
     * Builds these servers, and returns the commands that start them.
     *
     * @param missing where those are put that cannot be had here, each with a sentence without its end
     */
    public static Map<RespServer, List<String>> commands(List<RespServer> wanted, Map<RespServer, String> missing)
            throws IOException, InterruptedException {
        Map<RespServer, List<String>> commands = new EnumMap<>(RespServer.class);
        Path classes = null;
        for (RespServer s : wanted) {
            try {
                switch (s) {
                    case GO -> commands.put(s, new Toolchains(System.getenv()).go("bench/peers/go/resp", "resp").command());
                    case REDIS -> commands.put(s, List.of(program("redis-server")));
                    default -> {
                        classes = classes == null ? compile() : classes;
                        commands.put(s, java(classes));
                    }
                }
            } catch (Toolchains.MissingException e) {
                missing.put(s, e.getMessage());
            }
        }
        return commands;
    }

    /** Its command with its arguments; it listens on a port that is free. */
    List<String> onFreePort(List<String> command) throws IOException {
        List<String> all = new ArrayList<>(command);
        if (this == REDIS) { // It takes 0 for none.
            try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                all.addAll(List.of("--port", "" + free.getLocalPort(), "--bind", "127.0.0.1", "--save", "", "--appendonly",
                        "no", "--dir", System.getProperty("java.io.tmpdir")));
            }
        } else {
            all.add("0");
            all.addAll(arguments);
        }
        return all;
    }

    /** Returns the program of this name in PATH. */
    public static String program(String name) throws Toolchains.MissingException {
        for (String dir : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
            Path file = Path.of(dir, name);
            if (Files.isRegularFile(file) && Files.isExecutable(file)) {
                return file.toString();
            }
        }
        throw new Toolchains.MissingException(name + " was not found in PATH: Debian has it in "
                + (name.equals("redis-server") ? name : "redis-tools"));
    }

    private static List<String> java(Path classes) {
        List<String> command = new ArrayList<>(JavaCommand.of(List.of(), Object.class, List.of()));
        command.removeLast();
        String path = command.removeLast();
        command.addAll(List.of(classes + File.pathSeparator + path, "resp.Resp"));
        return command;
    }

    private static Path compile() throws IOException, Toolchains.MissingException {
        Path root = Toolchains.root();
        Path classes = Files.createDirectories(root.resolve("target/peers/resp"));
        List<String> javac = new ArrayList<>(List.of("-cp", System.getProperty("java.class.path"), "-d", classes.toString()));
        try (Stream<Path> sources = Files.list(root.resolve(EXAMPLE))) {
            sources.map(Path::toString).filter(f -> f.endsWith(".java")).sorted().forEach(javac::add);
        }
        StringWriter said = new StringWriter();
        ToolProvider tool = ToolProvider.findFirst("javac")
                .orElseThrow(() -> new Toolchains.MissingException("this Java has no compiler for " + EXAMPLE));
        if (tool.run(new PrintWriter(said), new PrintWriter(said), javac.toArray(String[]::new)) != 0) {
            throw new IOException(EXAMPLE + " does not compile: " + said.toString().lines().findFirst().orElse(""));
        }
        return classes;
    }
}
