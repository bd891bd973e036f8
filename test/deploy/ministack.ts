import { spawn } from 'node:child_process'
import { mkdirSync, openSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { installPython, perform } from '../support/install-python.ts'
import { findFreePort } from '../../infra/local/http/bind-server.ts'

/** Thrown when the deployment test cannot start; the message says why. */
export class NotStarted extends Error {
  override readonly name = 'NotStarted'
}

/** A running ministack. */
export interface Ministack {
  endpoint: string
  /** File of the certificate that clients must trust. */
  certificate: string
  /** Ends ministack and the function processes that it leaves behind. */
  stop: () => Promise<void>
}

/**
 * Installs ministack at first use, and starts it on a free port of the loopback interface. Ministack serves
 * TLS with its own certificate, enforces IAM, and writes only into `directory`. Throws if Python or openssl
 * is missing.
 */
export async function startMinistack(directory: string): Promise<Ministack> {
  const programs = installPython()
  const certificate = join(directory, 'certificate.pem')
  const key = join(directory, 'key.pem')
  makeCertificate(certificate, key)
  const port = await findFreePort()
  const endpoint = `https://127.0.0.1:${port}`
  const temporary = join(directory, 'ministack')
  mkdirSync(temporary)
  const logFile = join(directory, 'ministack.log')
  const log = openSync(logFile, 'w')
  const child = spawn(join(programs, 'ministack'), [], {
    cwd: directory,
    // Starts a process group, because ministack does not end the functions' processes when it ends.
    detached: true,
    stdio: ['ignore', log, log],
    // No other variables are passed on, because they could contain credentials or another endpoint.
    env: {
      HOME: directory,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`,
      TMPDIR: temporary,
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      AUTH: 'true',
      USE_SSL: 'true',
      MINISTACK_SSL_CERT: certificate,
      MINISTACK_SSL_KEY: key,
      // Makes the functions on ministack trust its certificate.
      NODE_EXTRA_CA_CERTS: certificate,
      // With MQTT enabled, ministack would listen on every network interface.
      IOT_MTLS_ENABLED: 'false',
    },
  })
  const stop = async () => {
    if (child.pid !== undefined) await endGroup(child.pid)
  }
  try {
    await waitUntilReady(logFile, () => child.exitCode === null)
  } catch (error) {
    await stop()
    throw error
  }
  return { endpoint, certificate, stop }
}

/** Writes a self-signed certificate for the loopback interface, and its key. */
function makeCertificate(certificate: string, key: string): void {
  const extension = (text: string) => ['-addext', text]
  perform(
    'openssl is needed for the certificate of ministack',
    'openssl',
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-keyout', key, '-out', certificate, '-subj', '/CN=ministack of a deployment test'],
    ...extension('basicConstraints=critical,CA:FALSE'),
    ...extension('subjectAltName=DNS:localhost,IP:127.0.0.1'),
  )
}

const maxStartMilliseconds = 60_000

/** Waits until the log says that ministack is ready. */
async function waitUntilReady(logFile: string, runs: () => boolean): Promise<void> {
  const end = Date.now() + maxStartMilliseconds
  while (Date.now() < end && runs()) {
    // Reads the log, because requests cannot work: this process does not trust ministack's certificate.
    if (readFileSync(logFile, 'utf8').includes('Running on https://')) return
    await wait(100)
  }
  throw new NotStarted(`ministack did not start:\n${readFileSync(logFile, 'utf8').trim()}`)
}

const maxStopMilliseconds = 10_000

/** Ends a process group with SIGTERM, and after ten seconds with SIGKILL. */
async function endGroup(group: number): Promise<void> {
  const end = Date.now() + maxStopMilliseconds
  for (let signal: 'SIGTERM' | 'SIGKILL' | 0 = 'SIGTERM'; ; signal = Date.now() < end ? 0 : 'SIGKILL') {
    try {
      process.kill(-group, signal)
    } catch {
      // process.kill throws when no process of the group is left.
      return
    }
    await wait(100)
  }
}
