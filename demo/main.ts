import { existsSync } from 'node:fs'
import { runCommand } from '../stack/command.ts'
import { readConnection } from '../stack/connection.ts'
import { readSettings } from '../stack/settings.ts'
import { StackError } from '../stack/stack_error.ts'
import { playDay } from './day.ts'
import { makeSetting } from './setting.ts'

const SECONDS = 25

await runCommand(async () => {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const { DATA_DIR } = readSettings(process.env)
  const connection = await readConnection(DATA_DIR)
  if (connection === undefined) {
    throw new StackError(`No Lading is running here: npm start writes ${DATA_DIR}/connection.json, which is missing.`)
  }
  if (connection.demo === undefined) {
    throw new StackError('The demo plays in the demo business, which is not there: start Lading with DEMO=on.')
  }
  const deadline = new AbortController()
  const timer = setTimeout(
    () => deadline.abort(new StackError(`The day was not over after ${SECONDS} s. Is the machine very busy?`)),
    SECONDS * 1_000,
  )
  try {
    const setting = await makeSetting(connection, connection.demo, deadline.signal)
    console.log(`A day of the demo business. The names and numbers of this run end in -${setting.run}.`)
    try {
      await playDay(setting)
    } finally {
      await setting.close()
    }
  } finally {
    clearTimeout(timer)
  }
})
