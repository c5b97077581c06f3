// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringReader;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The example of an image, {@code examples/image}, started without a container engine: its entry point is process 1 of a PID namespace, in
 * a root that is read-only and has what the Dockerfile puts there, as its user without rights, with its variables alone, and with the
 * manifest's limits in cgroups, as far as this machine allows it. Elsewhere the entry point is started as the test's user.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ImageTest {
    private static final Path EXAMPLE = Path.of("examples/image");
    private static final String NAME = "gmp4j-image-test-" + ProcessHandle.current().pid();
    /** It answers the probes, and says what it sees of the machine. */
    private static final String SERVICE = """
            import com.sun.net.httpserver.*;
            import java.io.*;
            import java.net.*;
            import java.nio.file.*;
            import java.util.*;
            import java.util.concurrent.*;

            public class Service {
                public static void main(String[] args) throws Exception {
                    var server = HttpServer.create(new InetSocketAddress(Integer.parseInt(System.getenv("SERVER_PORT"))), 0);
                    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
                    server.createContext("/actuator/health/", x -> answer(x, "UP"));
                    server.createContext("/about", x -> answer(x, about()));
                    server.start();
                }

                static void answer(HttpExchange x, String text) throws IOException {
                    x.sendResponseHeaders(200, text.length());
                    x.getResponseBody().write(text.getBytes());
                    x.close();
                }

                static String about() throws IOException {
                    var os = (com.sun.management.OperatingSystemMXBean)
                            java.lang.management.ManagementFactory.getOperatingSystemMXBean();
                    var b = new StringBuilder();
                    b.append("goroutine=" + goroutine() + "\\npid=" + ProcessHandle.current().pid() + "\\ncpus="
                            + Runtime.getRuntime().availableProcessors() + "\\nmemory=" + os.getTotalMemorySize()
                            + "\\nheap=" + Runtime.getRuntime().maxMemory() + "\\nvariables=" + new TreeSet<>(System.getenv().keySet())
                            + "\\nroot=" + writable("/x") + "\\napp=" + writable("/app/x") + "\\ntmp=" + writable("/tmp/x"));
                    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                        if (line.matches("(Uid|Gid|CapEff|CapBnd|NoNewPrivs):.*")) {
                            b.append("\\n" + line.replaceFirst(":\\\\s*", "=").replaceAll("\\\\s", " "));
                        }
                    }
                    return b.toString();
                }

                static Object goroutine() {
                    try {
                        return Class.forName("org.gmp4j.Go").getMethod("inGoroutine").invoke(null);
                    } catch (ReflectiveOperationException e) {
                        return e;
                    }
                }

                static boolean writable(String file) {
                    try {
                        Files.delete(Files.writeString(Path.of(file), "x"));
                        return true;
                    } catch (IOException e) {
                        return false;
                    }
                }
            }
            """;
    /** Makes the root of the image and starts the entry point in it. Arguments: root, folder of /app, JDK, variables and command. */
    private static final String CONTAINER = """
            set -e
            root=$1 app=$2 jdk=$3 user=$4 group=$5
            shift 5
            mount -t tmpfs -o mode=755 none "$root"
            mkdir -p "$root"/{app,dev,etc,opt/java/openjdk,proc,sys,tmp,usr}
            for dir in bin lib lib64 sbin; do
                if [ -L /$dir ]; then ln -s "$(readlink /$dir)" "$root/$dir"
                elif [ -d /$dir ]; then mkdir "$root/$dir" && mount --bind /$dir "$root/$dir"; fi
            done
            mount --bind /usr "$root/usr"
            mount --bind "$jdk" "$root/opt/java/openjdk"
            mount --bind "$app" "$root/app"
            for dir in usr app opt/java/openjdk; do mount -o remount,bind,ro "$root/$dir"; done
            mount --rbind /sys "$root/sys"
            mount -t proc none "$root/proc"
            for file in null zero random urandom; do touch "$root/dev/$file" && mount --bind /dev/$file "$root/dev/$file"; done
            cp /etc/ld.so.cache "$root/etc/"
            echo "service:x:$user:$group::/app:/usr/sbin/nologin" >"$root/etc/passwd"
            echo 'hosts: files' >"$root/etc/nsswitch.conf"
            mount -t tmpfs -o mode=1777,size=64m none "$root/tmp"
            mount -o remount,ro "$root"
            exec chroot "$root" /usr/bin/setpriv --reuid "$user" --regid "$group" --clear-groups --no-new-privs \\
                --bounding-set -all --inh-caps -all /usr/bin/env -i -C /app "$@"
            """;

    private final List<Path> cgroups = new ArrayList<>();

    @Test
    void manifestAndDockerfileFitTogether() throws IOException {
        Image image = Image.of(EXAMPLE);
        Map<?, ?> context = Image.map(image.pod(), "securityContext");
        assertEquals(image.user(), context.get("runAsUser") + ":" + context.get("runAsGroup"));
        assertEquals(true, context.get("runAsNonRoot"));
        List<String> ports = new ArrayList<>();
        for (Object port : (List<?>) image.container().get("ports")) {
            ports.add(((Map<?, ?>) port).get("containerPort").toString());
        }
        assertEquals(image.exposed(), ports);
        assertTrue(image.environment().get("GMPDEBUG").endsWith(":" + ports.getLast()));
        Map<?, ?> rights = Image.map(image.container(), "securityContext");
        assertEquals(Map.of("allowPrivilegeEscalation", false, "readOnlyRootFilesystem", true,
                "capabilities", Map.of("drop", List.of("ALL"))), rights);
        assertEquals(List.of(Map.of("name", "tmp", "mountPath", "/tmp")), image.container().get("volumeMounts"));
        assertTrue(image.entrypoint().containsAll(List.of("java", "/app/service.jar")), image::toString);
        assertEquals(List.of("gmp4j-agent.jar", "service.jar"), image.copied());
    }

    @Test
    void start(@TempDir Path folder) throws Exception {
        OneFlag flag = new OneFlag(folder);
        Image image = Image.of(EXAMPLE);
        Path app = Files.createDirectory(folder.resolve("app"));
        Files.copy(flag.agent, app.resolve("gmp4j-agent.jar"));
        service(folder, app.resolve("service.jar"));
        int port = freePort();
        int metrics = freePort();
        boolean isolated = succeeds("unshare", "--mount", "--pid", "--fork", "bash", "-c",
                "mount -t tmpfs none '" + folder + "' && setpriv --reuid 1 --clear-groups true");
        Process p = new ProcessBuilder(command(image, app, folder, isolated, port, metrics))
                .redirectErrorStream(true).redirectOutput(folder.resolve("said").toFile()).start();
        try (HttpClient client = HttpClient.newHttpClient()) {
            until(client, port, image.probe("startupProbe"), p, folder);
            assertEquals("UP", get(client, port, image.probe("livenessProbe")));
            assertEquals("UP", get(client, port, image.probe("readinessProbe")));
            assertTrue(get(client, metrics, "/metrics").contains("gmp_sched_gomaxprocs_threads{"), "no metrics");
            Properties about = new Properties();
            about.load(new StringReader(get(client, port, "/about")));
            assertEquals("true", about.get("goroutine"), about::toString);
            assertEquals("[GMPDEBUG, JAVA_HOME, PATH, SERVER_PORT]", about.get("variables"), about::toString);
            if (isolated) {
                String four = "10001 10001 10001 10001";
                String none = "0000000000000000";
                assertEquals(Map.of("pid", "1", "Uid", four, "Gid", four, "CapEff", none, "CapBnd", none, "NoNewPrivs", "1",
                        "root", "false", "app", "false", "tmp", "true"), of(about, "pid", "Uid", "Gid", "CapEff", "CapBnd", "NoNewPrivs",
                        "root", "app", "tmp"));
            }
            if (!cgroups.isEmpty()) {
                int cpus = Math.min(image.cpus(), Runtime.getRuntime().availableProcessors());
                assertEquals(Map.of("cpus", cpus + "", "memory", image.memory() + ""), of(about, "cpus", "memory"));
                long heap = Long.parseLong((String) about.get("heap"));
                assertTrue(heap > image.memory() / 2 && heap < image.memory(), about::toString);
            }
            java(p).destroy(); // SIGTERM, as when a pod ends.
            assertTrue(p.waitFor(30, TimeUnit.SECONDS), "does not end");
            assertEquals(143, p.exitValue());
            assertEquals("", Files.readString(folder.resolve("said")));
        } finally {
            List<ProcessHandle> all = Stream.concat(p.descendants(), Stream.of(p.toHandle())).toList();
            all.forEach(ProcessHandle::destroyForcibly);
            all.forEach(h -> h.onExit().join()); // A cgroup with a process in it cannot be removed.
            for (Path cgroup : cgroups) {
                Files.delete(cgroup);
            }
        }
    }

    private static Map<?, ?> of(Properties all, String... keys) {
        Map<Object, Object> some = new LinkedHashMap<>(all);
        some.keySet().retainAll(List.of(keys));
        return some;
    }

    private static ProcessHandle java(Process p) {
        return Stream.concat(Stream.of(p.toHandle()), p.descendants())
                .filter(h -> h.info().command().orElse("").endsWith("/java")).findAny().orElseThrow();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static void service(Path folder, Path jar) throws IOException {
        Path source = Files.writeString(folder.resolve("Service.java"), SERVICE);
        Path classes = Files.createDirectory(folder.resolve("classes"));
        assertEquals(0, ToolProvider.findFirst("javac").orElseThrow()
                .run(System.out, System.err, "-d", classes.toString(), source.toString()));
        assertEquals(0, ToolProvider.findFirst("jar").orElseThrow()
                .run(System.out, System.err, "--create", "--file", jar.toString(), "--main-class", "Service", "-C", classes.toString(),
                        "."));
    }

    // ---- the command

    private List<String> command(Image image, Path app, Path folder, boolean isolated, int port, int metrics) throws Exception {
        String jdk = System.getProperty("java.home");
        String java = isolated ? "/opt/java/openjdk" : jdk; // where the base image has it
        Map<String, String> variables = new LinkedHashMap<>(Map.of("JAVA_HOME", java, "PATH", java + "/bin:/usr/bin:/bin"));
        image.environment().forEach((name, value) -> variables.put(name, value.replaceFirst(":\\d+$", ":" + metrics)));
        variables.put("SERVER_PORT", port + "");
        List<String> command = new ArrayList<>();
        cgroups(image);
        String join = String.join("", cgroups.stream().map(c -> "echo $$ >'" + c + "/cgroup.procs' && ").toList());
        command.addAll(List.of("bash", "-c", join + "exec \"$@\"", "bash", "prlimit", "--core=0", "--nproc=256", "--nofile=1024"));
        if (isolated) {
            Path root = Files.createDirectory(folder.resolve("root"));
            Path script = Files.writeString(folder.resolve("container.sh"), CONTAINER);
            command.addAll(List.of("unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", script.toString()));
            command.addAll(List.of(root.toString(), app.toString(), jdk));
            command.addAll(List.of(image.user().split(":")));
        } else {
            command.addAll(List.of("env", "-i"));
        }
        variables.forEach((name, value) -> command.add(name + "=" + value));
        for (String word : image.entrypoint()) {
            command.add(isolated ? word : word.replace("/app/", app + "/"));
        }
        return command;
    }

    /** Makes cgroups with the manifest's limits, in version 2 or else in version 1 of the controllers, if this user may. */
    private void cgroups(Image image) throws IOException {
        Path all = Path.of("/sys/fs/cgroup");
        Path controllers = all.resolve("cgroup.subtree_control");
        if (Files.isWritable(controllers) && Files.readString(controllers).matches("(?s).*\\bcpu\\b.*\\bmemory\\b.*")) {
            cgroup(all, Map.of("cpu.max", image.cpus() * 100_000 + " 100000", "memory.max", image.memory() + "", "pids.max", "256"));
        } else {
            cgroup(all.resolve("cpu"), Map.of("cpu.cfs_quota_us", image.cpus() * 100_000 + ""));
            cgroup(all.resolve("memory"), Map.of("memory.limit_in_bytes", image.memory() + ""));
            cgroup(all.resolve("pids"), Map.of("pids.max", "256"));
        }
    }

    private void cgroup(Path parent, Map<String, String> limits) throws IOException {
        if (Files.isWritable(parent.resolve("cgroup.procs"))) {
            Path cgroup = Files.createDirectory(parent.resolve(NAME));
            cgroups.add(cgroup);
            for (Map.Entry<String, String> limit : limits.entrySet()) {
                Files.writeString(cgroup.resolve(limit.getKey()), limit.getValue());
            }
        }
    }

    private static boolean succeeds(String... command) throws Exception {
        try {
            Process p = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
            return p.waitFor() == 0;
        } catch (IOException e) {
            return false; // There is no such program.
        }
    }

    // ---- the probes

    private static String get(HttpClient client, int port, String path) throws Exception {
        URI uri = URI.create("http://localhost:" + port + path);
        HttpResponse<String> answer = client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
        assertEquals(200, answer.statusCode(), path);
        return answer.body();
    }

    /** Asks until the service answers, as a startup probe does. */
    private static void until(HttpClient client, int port, String path, Process p, Path folder) throws Exception {
        while (true) {
            try {
                get(client, port, path);
                return;
            } catch (IOException e) {
                assertTrue(p.isAlive(), Files.readString(folder.resolve("said")));
                Thread.sleep(10);
            }
        }
    }
}
