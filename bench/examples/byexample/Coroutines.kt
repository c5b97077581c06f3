// SPDX-License-Identifier: Apache-2.0
// Kotlin's coroutines on a scheduler: a Gmp is an Executor, so it is a dispatcher. Each piece of a coroutine runs in a goroutine, which may
// wait in a channel or a lock without holding a thread up. runInterruptible makes such a wait end when the coroutine is cancelled.
package byexample

import kotlin.system.exitProcess
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.runInterruptible
import kotlinx.coroutines.withTimeoutOrNull
import org.gmp4j.Chan
import org.gmp4j.Gmp
import org.gmp4j.Go
import org.gmp4j.RecvChan
import org.gmp4j.SendChan

/** Receives; null once closed and drained. */
suspend fun <T : Any> RecvChan<T>.receive(): T? = runInterruptible { recvInterruptibly() }

/** Sends. */
suspend fun <T : Any> SendChan<T>.emit(v: T) = runInterruptible { sendInterruptibly(v) }

private fun page(name: String, right: Boolean) {
    println("$name (${if (right) "right" else "WRONG"})")
    if (!right) exitProcess(1)
}

fun main() {
    Gmp.builder().build().use { gmp ->
        val goroutines = gmp.asCoroutineDispatcher()
        runBlocking(goroutines) {
            val c = Chan.make<Int>()
            launch {
                for (i in 1..1000) c.emit(i)
                c.close()
            }
            val sums = coroutineScope {
                (1..4).map {
                    async {
                        check(Go.inGoroutine())
                        var sum = 0
                        while (true) sum += c.receive() ?: break
                        sum
                    }
                }.awaitAll()
            }
            page("coroutines share a channel", sums.sum() == 500_500)
            val never = withTimeoutOrNull(5) { Chan.make<Int>().receive() }
            page("a cancelled coroutine stops waiting", never == null)
            delay(1)
            gmp.go { c.tryRecv() }
            page("delays", true)
        }
    }
}
