import { createServer } from 'node:net'

const tryPort = (port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen({ port, host, exclusive: true }, () => {
      const address = probe.address()
      const bound = typeof address === 'object' && address !== null ? address.port : port
      probe.close(() => resolve(bound))
    })
  })

export const freePort = (host = '127.0.0.1'): Promise<number> => tryPort(0, host)

export const isFree = (port: number, host = '127.0.0.1'): Promise<boolean> =>
  tryPort(port, host).then(
    () => true,
    () => false,
  )
