import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// A receiver on loopback, a process of its own: answers 200 to everything.

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.setHeader('Content-Type', 'application/json')
    response.end('{}')
  })
})

process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
