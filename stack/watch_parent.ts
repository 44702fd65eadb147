const CHECK_MILLISECONDS = 1_000

/** npm passes signals on, but cannot when it is killed with -9: then this process has a new parent. */
export function watchParent(end: (reason: string) => void): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) end('parent is gone')
  }, CHECK_MILLISECONDS).unref()
}
