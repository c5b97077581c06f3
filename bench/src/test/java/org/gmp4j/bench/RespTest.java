// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.gmp4j.bench.peers.Toolchains;
import org.gmp4j.bench.resp.RespProcess;
import org.gmp4j.bench.resp.RespServer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The servers of Redis' protocol as redis-cli and redis-benchmark see them, where those are installed. */
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RespTest {
    private static final String SESSION = """
            PING
            SET greeting "hello, world"
            GET greeting
            GET none
            INCR visits
            INCR visits
            INCR greeting
            MSET a 1 b 2
            MGET a none b
            DEL a b none
            EXPIRE greeting 100
            EXPIRE none 100
            PUBLISH nobody hears
            FLY
            GET
            """;
    private static final String ANSWERS = """
            PONG
            OK
            hello, world

            1
            2
            ERR value is not an integer or out of range

            OK
            1

            2
            2
            1
            0
            0
            ERR unknown command 'FLY'

            ERR wrong number of arguments for 'get' command

            """;

    private static List<String> net;

    @BeforeAll
    static void compile() throws Exception {
        net = RespServer.commands(List.of(RespServer.NET), Map.of()).get(RespServer.NET);
    }

    /** A session, messages, a benchmark, and the end by SIGTERM with a client that waits. */
    @ParameterizedTest
    @CsvSource({"NET, 143", "SOCKET, 143", "JDK, 143", "GO, 0"}) // As the JVM ends by SIGTERM, and as the twin chooses to.
    void clients(RespServer which, int exit) throws Exception {
        String cli = client("redis-cli");
        String benchmark = client("redis-benchmark");
        try (RespProcess server = start(which)) {
            String port = "" + server.port();
            assertEquals(ANSWERS, said(SESSION, cli, "-p", port));
            String info = said("", cli, "-p", port, "INFO");
            while (!info.contains("connected_clients:1\r\n")) { // The last one's connection may still be closing.
                info = said("", cli, "-p", port, "INFO");
            }
            assertTrue(info.contains("db0:keys=2\r\n"), info);
            assertEquals("1\n", said("", cli, "-p", port, "EXPIRE", "greeting", "1"));
            while (!said("", cli, "-p", port, "GET", "greeting").equals("\n")) { // Until its time is over.
                Thread.sleep(50);
            }
            messages(cli, port);
            for (String pipeline : new String[] {"1", "16"}) {
                String figures = said("", benchmark, "-p", port, "-c", "50", "-n", "5000", "-P", pipeline, "-t",
                        "set,get,incr,mset,ping", "--csv");
                List<String> tests = figures.lines().skip(1).map(line -> line.split("\"")[1]).toList();
                assertEquals(List.of("PING_INLINE", "PING_MBULK", "SET", "GET", "INCR", "MSET (10 keys)"), tests, figures);
            }
            String counted = said("", cli, "-p", port, "GET", "counter:__rand_int__").strip();
            assertTrue(Integer.parseInt(counted) >= 2 * 5000, counted); // A pipeline is always sent as a whole.
            Process waits = new ProcessBuilder(cli, "-p", port, "SUBSCRIBE", "c").redirectErrorStream(true).start();
            try {
                assertEquals("subscribe", waits.inputReader().readLine());
                assertEquals(exit, server.terminate());
            } finally {
                waits.destroyForcibly();
            }
        }
    }

    private static void messages(String cli, String port) throws Exception {
        Process subscriber = new ProcessBuilder(cli, "-p", port, "SUBSCRIBE", "news").redirectErrorStream(true).start();
        try {
            BufferedReader hears = subscriber.inputReader(StandardCharsets.UTF_8);
            assertEquals(List.of("subscribe", "news", "1"), lines(hears, 3));
            for (int i = 0; i < 3; i++) {
                assertEquals("1\n", said("", cli, "-p", port, "PUBLISH", "news", "number " + i));
                assertEquals(List.of("message", "news", "number " + i), lines(hears, 3));
            }
        } finally {
            subscriber.destroyForcibly();
        }
    }

    private static List<String> lines(BufferedReader in, int n) throws Exception {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            lines.add(in.readLine());
        }
        return lines;
    }

    private static String client(String name) {
        try {
            return RespServer.program(name);
        } catch (Toolchains.MissingException e) {
            return abort(e.getMessage());
        }
    }

    private static RespProcess start(RespServer which) throws Exception {
        Map<RespServer, String> missing = new EnumMap<>(RespServer.class);
        Map<RespServer, List<String>> commands = RespServer.commands(List.of(which), missing);
        return missing.containsKey(which) ? abort(missing.get(which)) : new RespProcess(which, commands.get(which), -1);
    }

    private static String said(String input, String... command) throws Exception {
        Path in = Files.createTempFile("resp", ".txt");
        try {
            Files.writeString(in, input);
            Process p = new ProcessBuilder(command).redirectErrorStream(true).redirectInput(in.toFile()).start();
            String said = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, p.waitFor(), said);
            return said;
        } finally {
            Files.delete(in);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"65536", "x", "-1", "0 tcp", "0 net go", "0 net gmp more"})
    void badInput(String arguments) throws Exception {
        List<String> command = new ArrayList<>(net);
        command.addAll(List.of(arguments.split(" ")));
        refused(2, "Resp: use Resp [PORT [net|socket [gmp|jdk]]], with a port from 0, for any, to 65535.\n", command);
    }

    @Test
    void portThatIsTaken() throws Exception {
        try (RespProcess first = new RespProcess(RespServer.NET, net, -1)) {
            List<String> second = new ArrayList<>(net);
            second.add("" + first.port());
            refused(1, "Resp: port " + first.port() + ": listen tcp 127.0.0.1:", second);
        }
    }

    private static void refused(int exit, String sentence, List<String> command) throws Exception {
        Process p = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(said.startsWith(sentence), said);
        assertEquals(1, said.lines().count(), said);
        assertEquals(exit, p.waitFor());
    }
}
