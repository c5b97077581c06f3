// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Properties;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClassPatternTest {
    @ParameterizedTest
    @CsvSource({"com.acme.Parser, com.acme.Parser, true", "com.acme.Parser, com.acme.Parsers, false",
            "com.acme.Parser, com.acme.Parser$Node, false", "com.acme.*, com.acme.Parser$Node, true",
            "com.acme.*, com.acme.sub.Parser, false", "com.acme.**, com.acme.sub.Parser, true",
            "com.acme.**, com.acmes.Parser, false", "**, Parser, true", "**Test, com.acme.ParserTest, true",
            "**.Parser, com.acme.Parser, true", "**.Parser, Parser, false", "*, Parser, true", "*, com.Parser, false",
            "com.*.Parser, com.acme.Parser, true", "com.*.Parser, com.acme.sub.Parser, false",
            "com.acme.P*r, com.acme.Parser, true", "com.acme.P*s*, com.acme.Parser, true"})
    void matches(String pattern, String name, boolean expected) {
        assertEquals(expected, new ClassPattern(pattern).matches(name.replace('.', '/')));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "com..acme", ".com", "com.acme.", "com/acme", "com.acme.***", "com acme", "a-b", "[I"})
    void badPatternsAreOneSentence(String pattern) {
        String message = assertThrows(IllegalArgumentException.class, () -> new ClassPattern(pattern)).getMessage();
        assertTrue(message.startsWith("\"" + pattern + "\" is no pattern of class names; write "), message);
    }

    private static PointOptions options(String argument, String... properties) {
        Properties p = new Properties();
        for (int i = 0; i < properties.length; i += 2) {
            p.setProperty(properties[i], properties[i + 1]);
        }
        return PointOptions.of(AgentOptions.of(argument), p, PointOptions.When.LOAD);
    }

    private static boolean includes(PointOptions options, String name) {
        return options.includes(name.replace('.', '/'), name.startsWith("java.") || name.startsWith("jdk."), false);
    }

    @Test
    void byDefaultAllButTheJdk() {
        for (String argument : new String[] {null, "", " "}) {
            PointOptions options = options(argument);
            assertEquals(PointOptions.When.LOAD, options.when());
            assertTrue(includes(options, "com.acme.Parser"));
            assertTrue(includes(options, "Parser"));
            assertFalse(includes(options, "java.util.regex.Pattern"));
            assertFalse(options.includes("com/sun/tools/javac/Main", true, false));
            assertFalse(options.includes("com/acme/Agent", false, true));
            assertFalse(includes(options, "com.sun.jna.Function"));
            assertTrue(includes(options, "javax.inject.Provider"));
            assertTrue(includes(options, "sun.acme.Parser"));
            assertFalse(options.includes("java/util/regex/Pattern", false, false));
        }
    }

    @Test
    void theMoreSpecificPatternDecides() {
        PointOptions options = options("exclude=**,include=com.acme.**,org.other.*");
        assertTrue(includes(options, "com.acme.sub.Parser"));
        assertTrue(includes(options, "org.other.Parser"));
        assertFalse(includes(options, "org.other.sub.Parser"));
        options = options("include=com.acme.**,exclude=com.acme.gen.**");
        assertTrue(includes(options, "com.acme.Parser"));
        assertFalse(includes(options, "com.acme.gen.Parser"));
        assertTrue(includes(options, "org.other.Parser"));
        assertFalse(includes(options("include=com.acme.*,exclude=com.acme.*"), "com.acme.Parser"));
    }

    @Test
    void theJdkByIncludeButNotWhatPointsStandOn() {
        PointOptions options = options("include=java.**,jdk.**,sun.**");
        assertTrue(includes(options, "java.util.regex.Pattern"));
        assertTrue(includes(options, "java.math.BigInteger"));
        assertFalse(includes(options, "java.lang.String"));
        assertFalse(includes(options, "java.lang.invoke.MethodHandle"));
        assertFalse(includes(options, "java.util.HashMap"));
        assertFalse(includes(options, "java.util.concurrent.ConcurrentHashMap"));
        assertFalse(includes(options, "jdk.internal.misc.Unsafe"));
    }

    @Test
    void propertiesAndTheAgentsArgument() {
        assertEquals(PointOptions.When.OFF, options(null, "gmp.points", "off").when());
        assertEquals(PointOptions.When.LOAD, options("points=on", "gmp.points", "off").when());
        assertEquals(PointOptions.When.OFF, options("gmp.points=off,gmp.points.include=a.*,b.*").when());
        PointOptions options = options("include=a.*, b.**", "gmp.points.exclude", "b.c.*", "gmp.points.include", "x.*");
        assertTrue(includes(options, "b.d.E"));
        assertFalse(includes(options, "b.c.D"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"points=maybe|gmp.points is demand, load, eager or off, not \"maybe\".",
            "speed=high|The agent knows no option \"speed\"; it knows default, procs, spin, quantum, affinity, steal, realtime, "
                    + "hugepages, nodequeues, stalled, debug, compilers, pools, points, include, exclude, fallback.",
            "defalt|The agent knows no option \"defalt\": is \"default\" meant?",
            "default,quantm=1ms|The agent knows no option \"quantm\": is \"quantum\" meant?",
            "points|The agent's option \"points\" has no value.",
            "com.acme.**|The agent's option \"com.acme.**\" has no value.",
            "include=a..b|\"a..b\" is no pattern of class names; write com.acme.Parser, com.acme.* or com.acme.**."})
    void badOptions(String argument, String message) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, () -> options(argument)).getMessage());
    }
}
