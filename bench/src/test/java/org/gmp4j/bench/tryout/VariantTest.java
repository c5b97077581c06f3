// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;

import org.gmp4j.bench.ChildJava;
import org.gmp4j.bench.measure.JavaCommand;
import org.junit.jupiter.api.Test;

class VariantTest {
    private static final String FLAG = "-javaagent:" + JavaCommand.runtime() + "=default";
    private static final String JAVA = ChildJava.JAVA;

    @Test
    void parsed() {
        Variant v = Variant.parse("a.b-1=-Da='x y' -Xlog:gc=info:file=\"g c\"", true);
        assertEquals(new Variant("a.b-1", true, List.of("-Da=x y", "-Xlog:gc=info:file=g c")), v);
        assertEquals(List.of("-Xint"), Variant.parse("int= -Xint ", false).flags());
        for (String bad : List.of("", "a", "a=", "=-Xint", "a b=-Xint", "-Xint", "a=Xint")) {
            assertNull(Variant.parse(bad, true), bad);
        }
    }

    /** Our flag and the others stand behind the java; the rest of the command stays. */
    @Test
    void java() {
        List<String> service = List.of("java", "-Xmx1g", "-jar", "s.jar");
        assertEquals(List.of(JAVA, "-Xmx1g", "-jar", "s.jar"), Variant.JDK.command(service));
        assertEquals(List.of(JAVA, FLAG, "-Xmx1g", "-jar", "s.jar"), Variant.GMP4J.command(service));
        Variant more = new Variant("more", true, List.of("-Xint", "-Da=b"));
        assertEquals(List.of("/opt/jdk/bin/java", FLAG, "-Xint", "-Da=b", "X"), more.command(List.of("/opt/jdk/bin/java", "X")));
        assertEquals(Map.of(), more.environment(service));
    }

    /** A script gets the flags by a variable. */
    @Test
    void script() {
        List<String> service = List.of("./start.sh", "java");
        Variant spaced = new Variant("spaced", false, List.of("-Da=b c"));
        assertEquals(service, Variant.GMP4J.command(service));
        assertEquals(Map.of(), Variant.JDK.environment(service));
        assertTrue(Variant.GMP4J.environment(service).get("JAVA_TOOL_OPTIONS").endsWith(FLAG));
        assertTrue(spaced.environment(service).get("JAVA_TOOL_OPTIONS").endsWith("\"-Da=b c\""));
    }
}
