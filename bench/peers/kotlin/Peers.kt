// SPDX-License-Identifier: Apache-2.0

// The works of 'gmp peers' in Kotlin coroutines, on Dispatchers.Default with as many threads as there are Ps. Arguments:
// peer, work, Ps, seconds of warm-up, seconds. Prints one JSON object a line, {"work":…,"unit":…,"value":…}.

import java.io.File
import java.lang.management.ManagementFactory
import java.util.Locale
import java.util.concurrent.atomic.AtomicInteger
import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.microseconds
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield

const val LIMIT_NANOS = 2_000_000_000L
const val LEAST_RUNS = 3
const val CAPACITY = 128

var warmUp = 0L
var nanos = 0L
var suffix = ""

@Volatile var sink = 0L
@Volatile var stop = false
@Volatile var turn = 0L
@Volatile var took = 0L

fun main(args: Array<String>) {
    suffix = "/procs=" + args[2]
    warmUp = (args[3].toDouble() * 1e9).toLong()
    nanos = (args[4].toDouble() * 1e9).toLong()
    runBlocking(Dispatchers.Default) { work(args[1]) }
    System.out.flush()
    Runtime.getRuntime().halt(0)
}

suspend fun work(name: String) {
    when (name) {
        "yield" -> yields()
        "pingpong" -> pingpong()
        "buffered" -> buffered()
        "spawn" -> spawn()
        "skynet" -> skynet()
        "ring" -> ring()
        "select" -> selects()
        "selectfed" -> selectFed()
        "mutex" -> mutex()
        "contended" -> contended()
        "timerstop" -> timerStop()
        "timerreset" -> timerReset()
        "sleep" -> sleep()
        "wake" -> wake()
        "hogs" -> for (n in listOf(1, 4)) hogs(n)
        "blocked" -> blocked()
        "tree" -> tree()
        "fan" -> fan()
        "storm" -> storm()
        "parked" -> parked()
        "idle" -> idle()
        else -> {
            System.err.println("peers: unknown work $name")
            exitProcess(2)
        }
    }
}

// ---- figures

fun report(work: String, unit: String, value: Double) =
    println("{\"work\":\"$work\",\"unit\":\"$unit\",\"value\":${String.format(Locale.ROOT, "%.3f", value)}}")

fun never(work: String) =
    println("{\"work\":\"$work\",\"unit\":\"ns\",\"value\":null,\"note\":\"never in ${LIMIT_NANOS / 1_000_000_000} s\"}")

fun percentiles(work: String, values: List<Long>, vararg wanted: Int) {
    val sorted = values.sorted()
    for (p in wanted) report("$work/p$p", "ns", sorted[(sorted.size - 1) * p / 100].toDouble())
}

/** In bursts, between which the JIT has the CPUs until it has compiled what it wants to. */
suspend fun warmUp(burst: suspend (Long) -> Unit) {
    repeat(4) {
        withContext(Dispatchers.Default) { burst(warmUp / 4) }
        val jit = ManagementFactory.getCompilationMXBean()
        val end = System.nanoTime() + minOf(200_000_000L, warmUp)
        var last = jit.totalCompilationTime
        var quiet = 0
        while (quiet++ < 3 && System.nanoTime() < end) {
            Thread.sleep(10)
            if (jit.totalCompilationTime != last) {
                last = jit.totalCompilationTime
                quiet = 0
            }
        }
    }
}

/** Nanoseconds an operation, a line a run. */
suspend fun perOperation(name: String, operations: Int, body: suspend CoroutineScope.() -> Unit) {
    warmUp { nanos ->
        val end = System.nanoTime() + nanos
        do coroutineScope(body) while (System.nanoTime() < end)
    }
    val end = System.nanoTime() + nanos
    var runs = 0
    while (runs++ < LEAST_RUNS || System.nanoTime() < end) {
        val start = System.nanoTime()
        coroutineScope(body)
        report(name, "ns", (System.nanoTime() - start).toDouble() / operations)
    }
}

// ---- the time of an operation

suspend fun yields() {
    val n = 300_000
    perOperation("yield", 2 * n) { repeat(2) { launch { repeat(n) { yield() } } } }
}

suspend fun pingpong() {
    val n = 200_000
    perOperation("pingpong$suffix", n) {
        val ping = Channel<Long>()
        val pong = Channel<Long>()
        launch { repeat(n) { pong.send(ping.receive()) } }
        for (i in 0L until n) {
            ping.send(i)
            sink = pong.receive()
        }
    }
}

suspend fun feed(c: Channel<Long>, n: Int) {
    for (i in 0L until n) c.send(i)
}

suspend fun buffered() {
    val n = 2_000_000
    perOperation("buffered$suffix", n) {
        val c = Channel<Long>(CAPACITY)
        launch { feed(c, n) }
        repeat(n) { sink = c.receive() }
    }
}

suspend fun spawn() {
    for (batch in listOf(100, 10_000)) {
        val batches = 500_000 / batch
        perOperation("spawn/batch=$batch", batches * batch) {
            repeat(batches) { coroutineScope { repeat(batch) { launch { } } } }
        }
    }
}

suspend fun skynet() {
    val leaves = 100_000
    perOperation("skynet$suffix", leaves) {
        val up = Channel<Long>()
        launch { node(up, 0, leaves) }
        check(up.receive() == leaves * (leaves - 1L) / 2) { "skynet: wrong sum" }
    }
}

suspend fun node(up: Channel<Long>, first: Long, size: Int): Unit = coroutineScope {
    if (size == 1) {
        up.send(first)
    } else {
        val mine = Channel<Long>()
        for (i in 0 until 10) launch { node(mine, first + i * size / 10, size / 10) }
        var sum = 0L
        repeat(10) { sum += mine.receive() }
        up.send(sum)
    }
}

suspend fun ring() {
    val size = 1000
    val hops = 500_000
    perOperation("ring$suffix", hops) {
        val links = List(size) { Channel<Long>() }
        val arrived = Job()
        for (i in 0 until size) {
            val out = links[(i + 1) % size]
            launch {
                for (hop in links[i]) {
                    if (hop == hops.toLong()) arrived.complete() else out.send(hop + 1)
                }
            }
        }
        links[0].send(1)
        arrived.join()
        links.forEach { it.close() }
    }
}

suspend fun selects() {
    val n = 300_000
    perOperation("select$suffix", n) {
        val a = Channel<Long>(1)
        val b = Channel<Long>(1)
        a.send(0)
        repeat(n) {
            select {
                a.onReceive { b.send(it) }
                b.onReceive { a.send(it) }
            }
        }
    }
}

suspend fun selectFed() {
    val half = 250_000
    for (capacity in listOf(0, CAPACITY)) {
        perOperation("selectfed/cap=$capacity$suffix", 2 * half) {
            val a = Channel<Long>(capacity)
            val b = Channel<Long>(capacity)
            launch { feed(a, half) }
            launch { feed(b, half) }
            repeat(2 * half) {
                select {
                    a.onReceive { sink = it }
                    b.onReceive { sink = it }
                }
            }
        }
    }
}

var counter = 0

suspend fun count(m: Mutex, n: Int) {
    repeat(n) { m.withLock { counter++ } }
}

suspend fun mutex() {
    val n = 5_000_000
    val m = Mutex()
    perOperation("mutex", n) { count(m, n) }
}

suspend fun contended() {
    val n = 200_000
    val users = 4
    val m = Mutex()
    perOperation("contended", users * n) { repeat(users) { launch { count(m, n) } } }
}

/** A coroutine that waits is what Kotlin has for a timer. */
suspend fun timerStop() {
    val n = 50_000
    perOperation("timerstop", n) {
        repeat(n) {
            val timer = launch(start = CoroutineStart.UNDISPATCHED) { delay(1.hours) }
            timer.cancel()
        }
    }
}

suspend fun timerReset() {
    val n = 50_000
    perOperation("timerreset", n) {
        var timer: Job? = null
        repeat(n) {
            timer?.cancel()
            timer = launch(start = CoroutineStart.UNDISPATCHED) { delay(1.hours) }
        }
        timer?.cancel()
    }
}

/** Some 100 ns. */
fun compute(seed: Long) {
    var x = seed
    repeat(64) {
        x = x xor (x shl 13)
        x = x xor (x ushr 7)
        x = x xor (x shl 17)
    }
    if (x == 0L) sink = x
}

suspend fun tree() {
    val leaves = 300_000
    perOperation("tree$suffix", leaves) {
        val scope = this
        val left = AtomicInteger(leaves)
        val all = Job()
        fun branch(size: Int) {
            var mine = size
            while (mine > 1) {
                val part = maxOf(1, mine / 8)
                scope.launch { branch(part) }
                mine -= part
            }
            compute(size.toLong())
            if (left.decrementAndGet() == 0) all.complete()
        }
        launch { branch(leaves) }
        all.join()
    }
}

suspend fun fan() {
    val workers = 8
    val each = 50_000
    perOperation("fan$suffix", workers * each) {
        val input = Channel<Long>(CAPACITY)
        val output = Channel<Long>(CAPACITY)
        launch { feed(input, workers * each) }
        repeat(workers) {
            launch {
                repeat(each) {
                    val v = input.receive()
                    compute(v)
                    output.send(v)
                }
            }
        }
        var sum = 0L
        repeat(workers * each) { sum += output.receive() }
        sink = sum
    }
}

suspend fun storm() {
    warmUp { nanos ->
        val end = System.nanoTime() + nanos
        do stormOnce() while (System.nanoTime() < end)
    }
    val end = System.nanoTime() + nanos
    var runs = 0
    while (runs++ < LEAST_RUNS || System.nanoTime() < end) report("storm$suffix", "ns", stormOnce())
}

suspend fun stormOnce(): Double = coroutineScope {
    val waiters = 1000
    val gate = CompletableDeferred<Unit>()
    val ready = AtomicInteger(waiters)
    val left = AtomicInteger(waiters)
    val allReady = Job()
    val all = Job()
    repeat(waiters) {
        launch {
            if (ready.decrementAndGet() == 0) allReady.complete()
            gate.await()
            if (left.decrementAndGet() == 0) all.complete()
        }
    }
    allReady.join()
    delay(1.milliseconds) // The last ones are on their way into their wait.
    val start = System.nanoTime()
    gate.complete(Unit)
    all.join()
    (System.nanoTime() - start).toDouble() / waiters
}

// ---- waits

suspend fun sleep() {
    suspend fun sleeps(time: Long): List<Long> {
        val late = ArrayList<Long>()
        val end = System.nanoTime() + time
        do {
            val start = System.nanoTime()
            delay(50.microseconds)
            late.add(System.nanoTime() - start - 50_000)
        } while (start < end)
        return late
    }
    warmUp { sleeps(it) }
    percentiles("sleep", sleeps(nanos), 50, 99)
}

suspend fun wake() = coroutineScope {
    val scope = this
    fun wakes(time: Long, gap: Long): List<Long> {
        val waits = ArrayList<Long>()
        val end = System.nanoTime() + time
        do {
            val free = System.nanoTime() + gap
            while (System.nanoTime() < free) Thread.onSpinWait()
            took = 0
            val start = System.nanoTime()
            scope.launch { took = maxOf(1, System.nanoTime() - start) }
            while (took == 0L) Thread.onSpinWait()
            waits.add(took)
        } while (start < end)
        return waits
    }
    warmUp {
        wakes(it * 3, 0)
        wakes(it / 4, 200_000)
    }
    percentiles("wake", wakes(nanos, 200_000), 50, 99)
}

suspend fun hogs(n: Int) = coroutineScope {
    stop = false
    turn = System.nanoTime()
    val watch = Thread.ofPlatform().daemon().start {
        while (!stop) { // Ends the hogs when nobody else had a turn for too long.
            if (System.nanoTime() - turn > LIMIT_NANOS) stop = true
            Thread.sleep(20)
        }
    }
    repeat(n) {
        launch {
            var count = 0L
            while (!stop) count++
            sink = count
        }
    }
    suspend fun turns(time: Long): List<Long> {
        val all = ArrayList<Long>()
        var last = System.nanoTime()
        val end = last + time
        while (last < end) {
            turn = last
            yield()
            if (stop) break
            val now = System.nanoTime()
            all.add(now - last)
            last = now
        }
        return all
    }
    turns(nanos / 4)
    val all = turns(nanos)
    stop = true
    watch.join()
    if (all.isEmpty()) never("hogs/$n/p50") else percentiles("hogs/$n", all, 50)
}

suspend fun blocked() = coroutineScope {
    suspend fun blocks(time: Long, millis: Long): List<Long> {
        val waits = ArrayList<Long>()
        val end = System.nanoTime() + time
        do {
            val start = System.nanoTime()
            val other = launch { waits.add(System.nanoTime() - start) }
            withContext(Dispatchers.IO) { if (millis == 0L) Thread.sleep(0, 50_000) else Thread.sleep(millis) }
            other.join()
        } while (start < end)
        return waits
    }
    warmUp { blocks(it, 0) }
    percentiles("blocked", blocks(nanos, 2), 50, 99)
}

// ---- memory and CPU

suspend fun parked() = coroutineScope {
    suspend fun park(n: Int, gate: CompletableDeferred<Unit>) {
        val left = AtomicInteger(n)
        val ready = Job()
        for (i in 0 until n) {
            launch {
                if (left.decrementAndGet() == 0) ready.complete()
                gate.await()
            }
            if (i % 100 == 0) yield()
        }
        ready.join()
        delay(1.milliseconds)
    }
    warmUp { nanos ->
        val end = System.nanoTime() + nanos
        do {
            val gate = CompletableDeferred<Unit>()
            park(1000, gate)
            gate.complete(Unit)
        } while (System.nanoTime() < end)
    }
    val before = resident()
    val n = 500_000
    val gate = CompletableDeferred<Unit>()
    park(n, gate)
    report("parked", "bytes", (resident() - before).toDouble() / n)
    gate.complete(Unit)
}

fun resident(): Long {
    repeat(2) { System.gc() }
    val line = File("/proc/self/status").readLines().first { it.startsWith("VmRSS:") }
    return line.filter { it.isDigit() }.toLong() * 1024
}

suspend fun idle() = coroutineScope {
    warmUp { nanos ->
        val end = System.nanoTime() + nanos
        do delay(100.microseconds) while (System.nanoTime() < end)
    }
    val ticker = launch { while (true) delay(10.milliseconds) }
    used()
    Thread.sleep(nanos / 1_000_000) // What happens once is over then.
    val before = used()
    val start = System.nanoTime()
    Thread.sleep(3 * nanos / 1_000_000)
    report("idle", "ms/s", 1000.0 * (used() - before) / (System.nanoTime() - start))
    ticker.cancel()
}

/** CPU time of all threads, in nanoseconds. */
fun used(): Long = File("/proc/self/task").listFiles()!!.sumOf {
    runCatching { File(it, "schedstat").readText().substringBefore(' ').toLong() }.getOrDefault(0L)
}
