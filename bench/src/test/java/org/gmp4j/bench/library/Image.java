// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** What a Dockerfile and a Kubernetes manifest say about the start of a container; of both only the parts that our examples use. */
record Image(String user, List<String> exposed, List<String> entrypoint, List<String> copied, Map<?, ?> pod, Map<?, ?> container) {
    static Image of(Path folder) throws IOException {
        Map<String, String> lines = new LinkedHashMap<>();
        for (String line : Files.readAllLines(folder.resolve("Dockerfile"))) {
            if (!line.isBlank() && !line.startsWith("#")) {
                String[] words = line.split(" ", 2);
                assertEquals(null, lines.put(words[0], words[1]), "two instructions " + words[0]);
            }
        }
        assertEquals(List.of("FROM", "RUN", "WORKDIR", "COPY", "USER", "EXPOSE", "ENTRYPOINT"), List.copyOf(lines.keySet()));
        assertEquals("/app", lines.get("WORKDIR"));
        List<String> copied = new ArrayList<>(List.of(lines.get("COPY").split(" ")));
        assertEquals("--chmod=0444", copied.removeFirst());
        assertEquals("/app/", copied.removeLast());
        List<String> entrypoint = new ArrayList<>();
        for (Object word : (List<?>) yaml().load(lines.get("ENTRYPOINT"))) { // Of a list of strings YAML and JSON think alike.
            entrypoint.add((String) word);
        }
        Map<?, ?> deployment = (Map<?, ?>) yaml().loadAll(Files.readString(folder.resolve("kubernetes.yaml"))).iterator().next();
        Map<?, ?> pod = map(map(map(deployment, "spec"), "template"), "spec");
        List<?> containers = (List<?>) pod.get("containers");
        assertEquals(1, containers.size());
        Map<?, ?> container = (Map<?, ?>) containers.getFirst();
        return new Image(lines.get("USER"), List.of(lines.get("EXPOSE").split(" ")), entrypoint, copied, pod, container);
    }

    private static Yaml yaml() {
        return new Yaml(new SafeConstructor(new LoaderOptions()));
    }

    static Map<?, ?> map(Map<?, ?> in, String key) {
        assertTrue(in.get(key) instanceof Map, key);
        return (Map<?, ?>) in.get(key);
    }

    /** Returns the container's variables. */
    Map<String, String> environment() {
        Map<String, String> all = new LinkedHashMap<>();
        for (Object variable : (List<?>) container.get("env")) {
            all.put((String) ((Map<?, ?>) variable).get("name"), (String) ((Map<?, ?>) variable).get("value"));
        }
        return all;
    }

    /** Returns the path that a probe asks for. */
    String probe(String name) {
        return (String) map(map(container, name), "httpGet").get("path");
    }

    /** Returns the limit of CPUs; the examples use whole ones. */
    int cpus() {
        return Integer.parseInt((String) map(map(container, "resources"), "limits").get("cpu"));
    }

    /** Returns the limit of memory in bytes. */
    long memory() {
        String limit = (String) map(map(container, "resources"), "limits").get("memory");
        assertTrue(limit.endsWith("Mi"), limit);
        return Long.parseLong(limit.substring(0, limit.length() - 2)) << 20;
    }
}
