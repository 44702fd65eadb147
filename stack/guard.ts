import { spawn } from 'node:child_process'

// The guard's standard input closes when we end, however we end: it then ends the process it watches.
const script = `
read -r _
kill -s "$1" "$2" 2>/dev/null
waited=0
while kill -0 "$2" 2>/dev/null && [ "$waited" -lt 50 ]; do sleep 0.1; waited=$((waited + 1)); done
kill -s KILL "$2" 2>/dev/null
[ -z "$3" ] || rm -rf "$3"
`

export interface Guard {
  dismiss(): void
}

/** Ends process `pid` (and deletes `folder`) when this process is gone, even by kill -9. */
export function guardAgainstOurDeath(pid: number, signal: NodeJS.Signals, folder?: string): Guard {
  const guard = spawn('/bin/sh', ['-c', script, 'guard', signal.replace(/^SIG/, ''), String(pid), folder ?? ''], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.on('error', () => undefined)
  guard.stdin.on('error', () => undefined)
  guard.unref()
  return { dismiss: () => void guard.kill('SIGKILL') }
}
