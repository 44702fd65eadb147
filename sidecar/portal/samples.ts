/** How a consumer verifies deliveries: with the body as it came, before it is parsed. */
export const nodeSample = `// npm install standardwebhooks
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET) // whsec_…

createServer(async (request, response) => {
  try {
    const event = webhook.verify(await text(request), request.headers)
    console.log(event.type, event.sequence, event.data)
    response.writeHead(204).end()
  } catch {
    response.writeHead(400).end()
  }
}).listen(process.env.PORT ?? 3000)
`

export const pythonSample = `# pip install standardwebhooks flask
import os
from flask import Flask, request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

app = Flask(__name__)
webhook = Webhook(os.environ["WEBHOOK_SECRET"])  # whsec_…

@app.post("/webhooks")
def receive():
    try:
        event = webhook.verify(request.get_data(), dict(request.headers))
    except WebhookVerificationError:
        return "", 400
    print(event["type"], event["sequence"], event["data"])
    return "", 204
`
