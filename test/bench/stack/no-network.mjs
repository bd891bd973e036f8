// Answers a function's AWS calls inside its process, so that its processor time is measured without sockets.
import { Buffer } from 'node:buffer'
import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers'

/** Replaces the HTTP clients of this process by one that repeats the recorded answers in this file. */
export function replaceNetwork(file) {
  const recorded = JSON.parse(readFileSync(file, 'utf8'))
  const answers = Map.groupBy(recorded, ({ target }) => target)
  const turns = new Map()
  // The answer to the same request, or else the next one to the same operation: writes hold times.
  const find = (target, body) => {
    const known = answers.get(target)
    if (known === undefined) throw new Error(`no answer to ${target} was recorded`)
    const turn = turns.get(target) ?? 0
    turns.set(target, turn + 1)
    return known.find(({ request }) => request === body) ?? known[turn % known.length]
  }
  const request = (options, onResponse) => new AnsweredRequest(options, find).once('response', onResponse)
  http.request = request
  https.request = request
  syncBuiltinESMExports()
  // Answers about tries count those of the minute in which they were recorded.
  if (recorded.length > 0) Date.now = () => recorded[0].at
}

/** What the AWS SDK uses of a socket. */
class IdleSocket extends EventEmitter {
  connecting = false
  setKeepAlive() {}
  setTimeout() {}
  destroy() {}
}

/** What the AWS SDK uses of a request. */
class AnsweredRequest extends EventEmitter {
  socket = new IdleSocket()

  constructor({ headers, method, path }, find) {
    super()
    this.target = headers['x-amz-target'] ?? `${method} ${path.split('?', 1)[0]}`
    this.find = find
  }

  end(sent) {
    const { status, contentType, body } = this.find(this.target, String(sent))
    const answer = Object.assign(Readable.from([Buffer.from(body, 'base64')]), {
      statusCode: status,
      headers: { 'content-type': contentType },
    })
    setImmediate(() => {
      this.emit('response', answer)
      this.emit('close')
    })
  }

  setTimeout() {}
  destroy() {}
}
