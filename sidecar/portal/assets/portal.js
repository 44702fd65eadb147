// The pages work without this file: it copies, keeps relative times right, and sends a form once.

const steps = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' })

const relativeTime = (time) => {
  const seconds = (time - Date.now()) / 1_000
  const [unit, size] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  if (unit === 'second' && Math.abs(seconds) < 10) return seconds > 0 ? 'in a moment' : 'just now'
  return relative.format(Math.trunc(seconds / size), unit)
}

const showRelativeTimes = () => {
  for (const element of document.querySelectorAll('.relative[data-time]')) {
    const text = relativeTime(Date.parse(element.dataset.time))
    if (element.textContent !== text) element.textContent = text
  }
}
setInterval(showRelativeTimes, 30_000)

const status = document.createElement('p')
status.className = 'unseen'
status.setAttribute('role', 'status')
document.body.append(status)

const select = (element) => {
  const range = document.createRange()
  range.selectNodeContents(element)
  const selection = getSelection()
  selection?.removeAllRanges()
  selection?.addRange(range)
}

/** The clipboard is only there over https and on localhost: elsewhere the text is selected, to be copied by hand. */
const copy = async (button) => {
  const source = document.getElementById(button.dataset.copies)
  const label = button.firstChild
  try {
    await navigator.clipboard.writeText(source.textContent)
    label.textContent = 'Copied'
    status.textContent = 'Copied'
  } catch {
    select(source)
    label.textContent = 'Selected'
    status.textContent = 'The text is selected. Copy it with your keyboard.'
  }
  setTimeout(() => {
    label.textContent = 'Copy'
    status.textContent = ''
  }, 2_000)
}

for (const button of document.querySelectorAll('button.copy')) {
  button.hidden = false
  button.addEventListener('click', () => void copy(button))
}

for (const form of document.querySelectorAll('form[method="post"]')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent === 'yes') event.preventDefault()
    form.dataset.sent = 'yes'
  })
}

// Coming back through the history shows the page as it was left.
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent
})

// A snapshot is of an event that is subscribed to.
for (const row of document.querySelectorAll('.subscriptions > li')) {
  const action = row.querySelector('input[name="action"]')
  const snapshot = row.querySelector('input[name="snapshot"]')
  const follow = () => {
    snapshot.disabled = !action.checked
  }
  action.addEventListener('change', follow)
  follow()
}

document.querySelector('.errors')?.querySelector('a')?.focus()
