"""Words that are one token of cl100k_base and of o200k_base: those common enough to be worth their place.

Every claim below is checked, word by word, against the real vocabularies by a test. A word that is missing
here only makes an estimate larger. No beginning of a listed word takes more than three tokens, which is what
:mod:`hippo_async.context.tokens` needs to know about longer words that start with one.
"""

from __future__ import annotations

# One token in lower case and capitalised, each with and without a space in front.
_WORDS = """
    ab about above abs absolute abstract ac acc access account ace act action actions activate activation
    active activities activity actor acts actual actually ad ada adam add added adding additional address
    addresses adds adjust admin administrator ads adult advanced advisor af after ag again age agency agent
    ah ahead ai air aj ajax ak al alan alarm album ale alert alex ali alias alice align alignment alive all
    allen allocation allow allowed allows almost along alpha already also alt alter although always am among
    amount amy an analysis anchor and andre android ang animal animated animation anime ann anne
    annotation another answer answers ant any ao ap api app append apple application applications apply
    appointment apps apr ar arc arch are area areas arena arg args argument arguments ark arm around array
    art as ash asia aside ask aspect assembly asset assets async at atom atomic attr attribute attributes au
    audio audit auf aug aus auth author auto aux av average avoid await award away aws axis az azure ba baby
    back backend backup bad badge bag balance ball ban band bang bank banner bar bars bas base based basic
    basket bat batch battery battle bay be beam bean bear beat because bed been beer before begin bei being
    bel bell below ben bern berry best bet beta better between bi bias bid big bill bin binary bind binding
    bio bird birth birthday bit bitmap bits black blank blend blob block blocking blocks blog blood blue
    blur bo board bob body bold bomb bon bond bone bonus book booking books bool boolean boom boot border
    born boss both bottom bound bounds bow box boxes boy br brain brand break bridge bright bring broadcast
    broken broker brown browser brush bs bu bubble bucket budget buffer bug build builder built bulk bullet
    bundle burn bus business but button buttons buy buzz by byte bytes ca cab cache cached cake cal
    calculate calendar call callback called caller calling calls cam camera camp campaign can cancel
    candidate cannot canvas cap caps capt capture car card cards care cargo cars cart cascade case cases
    cash cast cat catalog catch categories category cause cd ce cell cells cent center central centre
    certificate ch cha chain chair challenge chan change changed changes changing channel channels chapter
    character characters charge chart charts chat che cheap check chi chief child china chip cho christ
    chrome chunk church ci circle cities city civil cl claim class classes classic classification clean
    cleanup clear click client clients clip clock clone close closed closing closure cloud club cluster cmd
    co cod code codes coding coffee coin col cold cole collapse collect collection collections collision
    colon color colors column columns com combat combine come comfort comic coming command commands comment
    comments commerce commercial commission commit common community como company compare comparison compile
    compiler complete completed completion complex component components composer composition compression
    compute computer con concept conference config configuration configure confirm conn connect connection
    connections console constant constraints construct construction constructor consumer contact contacts
    container containers contains content contents context continue contract contracts control controller
    controllers controls conversation conversion convert converted cook cookie cookies cool cop copy
    copyright core corn corp correct cost could count counter country counts county course courses court
    cover cow cr craft cream create created credit criteria critical crop cross crow crypt cs cu cube
    culture currency current currently cursor curve custom customer cut cycle da daily dal dam damage dan
    danger dar dark das dash data database dataset date dates dating day days db de dead deal dealer death
    debug dec deck declare decode deep def default defaults define defined defines definition degree del
    delay delegate delete deleted delivery delta dem demo den density dependency der des desc description
    design desk desktop destination destroy det detail details detect dev develop developer development
    device di diamond dice dict dictionary did die diff difference different dig digest digit digital dim
    dimension dir dire direct direction directory dirty disable disabled disc discount discover disk
    dispatch display dist distance district do doc dock docs doctor document does dog doing dom domain don
    done door dos dot double down download dr draft drag draw drawer drawing dream drink drive driver drop
    drug dry du due dump duration during dynamic each ear earn earth ease east easy eat ec echo ed edge edit
    editor ef effect effective effects eight ein either el elect electric element elements elf elite else em
    email emb embed employee empty en enable enabled encode encoding end ending endpoint enemy energy engine
    ensure enter enterprise entities entity entries entry enum env environment ep eq equal equals equipment
    er err error es escape est et eu evaluate evaluation even event events ever every ex exact exam example
    examples exc except exception exceptions exchange exclusive exec execute execution executor exercise
    exist existing exists exit expand expanded expect expected expense experience experiment experimental
    expert explicit export express expression extend extended extension extensions external extra extract
    eye fa fabric face facebook faces fact factor factory fade fail failed failure fair fake fall false
    family fan fans far farm fast fat fatal father fault favorite favorites fe feature features fed fee feed
    feel female fetch few fi field fields fig fight figure file filename files fill film filter filters fin
    final find finding fine finish finished fire first fish fit fitness five fix fixed fixture fl flag flags
    flash flat flight flip float floating floor flow flush fly fn focus fold folder follow font foo food
    foot for force ford fore forest forge forget forgot form format formation formats former forms formula
    fort forum forward found foundation four fox fr fraction fragment frame frames fred free frequency fresh
    friend friendly friends from front fu fuel full fully fun func function functional functions fund future
    ga gain gal gallery game games gamma gap gas gate gateway ge gear gem gen gender gene general
    generate generated generation generator generic geo gesture get gets getting ghost gi gift girl git
    github give given glass global go god gold good goods google got gov grab grade gradient gram gran grand
    grant graph graphic graphics gray great greater green grey grid ground group groups grow gu guest gui
    guild gun ha hack had hair hal half hall ham han hand handle handler handles hands hang happy hard
    hardware has hash hat have having hay he head header headers heading health healthy heap heart heat
    heavy height hell hello help helper her here hero het hex hey hi hidden hide high hint hip his history
    hit hits ho hold holder holiday home hon hook hooks hop hope horizontal hospital host hot hotel hour
    hours house how hp html http hu hub hum human hung hunter ice icon icons id ideal identifier identity
    idle if ign ignore ik il ill im image images img imp implement implementation import important imports
    in inc include included includes including income incoming incorrect increase index indexed indicator
    individual industry info inform information ing init initial initialize inner input inputs ins insert
    inside install instance instances instant instead instruction instructions instrument int integer
    integration intel intent inter interaction interactive interest interesting interface interfaces
    internal international internet interrupt intersection interval into intro invalid inventory invest
    invite invoke io ion ip ir iron is iso issue it item items iter its ja jack jam jan jar java je jet jets
    jo job jobs john join joint jon journal joy js json ju judge jump jun just ka kat ke keep keeper ken
    kernel key keyboard keys keyword keywords ki kick kid kids kim kin kind king kit kn know known ky
    la lab label labels lake lambda land lane lang language languages large las last late later latest latin
    launch law layer layers layout lazy le lead leader leading leaf league lean learn learning least leave
    led lee left leg legal len length leo les less lesson let lets letter level levels lex li lib library
    license lie life light lights like likes lim limit limited limits lin line linear lines link linked
    links linux list listen listener listing lists lit literal little live living lo load loader local
    location locations lock locked locker log logger logging logic logical login logo logs long longitude
    look looks loop lord los loss lost lot lots love low lower lt lu luck ma mac machine mad made mage magic
    mail main maint major make maker makes making mal male man manage managed management manager manifest
    manual manufacturer many map mapping maps mar margin mark marker market marks marshal mart mary mas mask
    mass master mat match matches matching mate material math matrix max may maybe mb mc md me mean med
    media median medium meg mel member members memory men menu mer merchant merge mesh mess message messages
    met meta metadata metal meter method metric metrics metro mi micro mid middle migration mill min mind
    mine mini mir mirror miss missing mission mit mix mixed mo mob mobile mock mod mode model models modern
    modified modify module modules mom moment mon money monitor mono mont month moon more most mother motion
    motor mount mouse move movement moves movie movies moving mp mr ms msg mt mu much mult multi multiple
    music must mutation my na nam name named names namespace nat nation national native natural nature
    navigation navigator ne near need neo nested net network never new news next ng nh ni nice nick night
    nine no node nodes noise non none nor norm normal north nos not note notes nov nova now nr nu null num
    number numeric nut ny obj object objective objects oct odd of off offer offers office official offset
    often oh oil ok ol old om omega on once one online only op open opening operation operator opt option
    options or oracle orange order ordered orders org organ organization origin original os other others our
    out outer outline output outputs outside over overall overflow override overview own owner pa pack
    package packet pad page pager pages pagination paid paint pair pal pan panel paper par para param
    parameter parameters params parent park parse parser part particle partner parts party pas pass passed
    password past paste pat patch path paths patient pattern pause pawn pay payload payment pdf peer pen
    pending per percent percentage perfect perform performance perhaps period permission permissions
    persistent person pet pets pg ph phase phi phil phone phones photo photos physical physics pi pick
    picture pictures pie piece pieces pin ping pink pipe pipeline pitch pizza pl place placement places
    plain plan plane plans plant plate platform play played player players playing please plot plug plus po
    pod point pointer points pokemon pol policy poll pool pop por port portal ports pose position positions
    positive post postal posted poster posting posts pot pour power powered pr practice pre predict
    preferences preferred prefix premium prepare present presentation press pretty preview previous price
    prices primary prime principal print printer printing prior priority private pro probe problem procedure
    process processing processor product production products prof profile profiles profit program progress
    project projection projects prom promise prompt proof prop properties property proto provide provider
    providers province proxy ps psi pt pu pub public publish published publisher pull purchase pure purple
    purpose push put py python qi quad quantity quarter que queries query quest question queue quick quit
    quite quiz quote quotes ra race radio radius rail rails rain raise raised raises ram rand random range
    rank rate rated rates rather rating ratio raw ray re reach react reaction read reader reading ready real
    really realm reason received receiver recent recipe recipes recommend recommended record records
    recursive red redis ref refer reference references reflect reflection refresh reg regex region regions
    register registered registration registry regular reject release released remark remarks ren rename
    render rent rep repair repeat replace reply repo report reports repository represent representation
    request requests require required requires res research reservation reserved reset resolve resource
    resources resp respond response responses rest result results resume retry return returned returns rev
    reverse review reviews revision reward rich right rights ring rio risk river ro road rob robot rock
    rocket rod role roles roll rom roman room root rose rot rotation round route routes routine routing row
    rows roy rs ru rub ruby rule rules run runner running runs runtime sa sad safe sal salary sale sales
    salt sam same sample samples sampling san sand sans sat save saved saving say sc scale scan scar scene
    schedule scheduled schema scheme school scope score scores screen screens script scripts scroll se sea
    search season seat sec second seconds secret section sections sector secure security see seed seek seen
    segment select selected selection self sell seller sen send sender sending sense sensor sent sentence
    sep separator seq sequence ser serial serialized series serve server servers service services session
    sessions set sets setting settings setup seven sh sha shadow shape share shared sharing she sheet shell
    shield shift ship shoot shop shopping short shot should show shows si sid side sigma sign signal signed
    silver simple simulation sin since sing single sink sit site sites six size sizes sk skill skills skin
    skip sky slash sleep slice slide slot slots slow sm small smart smith snap snow so social soft software
    sol sold solid solution some something sometimes son song songs soon sorry sort sorted sound sounds
    source sources south sp space spaces span spark speaker spec special species specific speech speed spell
    sphere spin split sport sports spot spread spring spy sq sql square sr src st stack staff stage stamp
    stan stand standard standing star stars start started starting stat state statement states static
    station statistics stats status stay steam step stick still stock stone stop storage store stored stores
    stories storm story str strategy stream streams street stretch strict strike string strings strip stripe
    stroke strong struct structure student students studio study stuff style styled styles su sub subject
    submission submit submitted subscription success such suite sum summer sun super supplier support
    supported sur sure surface survey svg swap sweet switch symbol syn sync syntax sys system systems ta tab
    table tables tag tags tail take taken taking talk tam tan tank tap tar target task tasks tau tax te team
    tech ted teen tel tell temp template temporary ten tenant term test testing tests tex text texture th
    than thank thanks that the their them theme themes then there these they thin thing things think
    thinking third this those though thought thread threads three threshold through throw throws thumb thus
    ti tick ticket tickets tier tile tiles tim time timeline timeout times timestamp tiny tip tips title
    titles to toast today token tokens tom ton too tool tools top topic tor total touch tour tower town toy
    tr trace track tracker tracking tracks trade trail train training trait trans transaction transactions
    transfer transform transition translate translation translator transparent transport trap trash travel
    tree trees tri trial triangle trigger trim trip true trust truth try trying tu tube tuple turn tv
    twitter two tx txt ty type typed types uber uh ui ul um un una unable und under une unexpected unicode
    uniform union unique unit units unity unix unknown unless unlock unsupported up update updated updates
    upgrade upload upon upper ups uri url us usage use used user username users uses using usually ut utf
    util utilities utility utils va val valid validate validation validator value values van var variable
    variant vault ve vec vector vehicle vendor vent verb version vertex very vi via video videos view viewer
    views vin virtual visible vision void vol vote votes vs wa wait wake walk walker walking wall wallet
    want war ware warehouse warm warn warning was watch water wave way we weak weapon weather web website
    week wei weight welcome well were west what whatever wheel when where whether which while white who
    whole why wi wide width wil wild will win wind window windows winner wins winter wire with withdraw
    within without wizard wolf woman women won wood word words work worker workers workflow working works
    workspace world would wow wrap wrapped wrapper write writer writes writing written wrong xi xml ya yang
    ye year years yellow yes yet yo you your youtube zen zero zip zone
"""
WORDS = frozenset(_WORDS.split())

# One token as written here with a space in front; nothing is known of them otherwise.
_SPACED_WORDS = """
    Aaron Abbey Adams Admiral Afghanistan Alabama Albert Alexander Alfred Americans Anderson Andrew Andy
    Angeles Anna Anthony Antonio Arabic Archbishop Argentina Arizona Arkansas Arthur Atlanta Atlantic Austin
    Australian Austria Austrian Baltimore Bangladesh Barbara Baron Barry Battalion Beijing Belgian Belgium
    Benjamin Bernard Beth Billy Blake Bobby Boston Brazilian Brian Bristol Britain Broadway Brooklyn Bruce
    Butler Cambridge Cameron Campbell Carl Carlos Carolina Carter Cassandra Catherine Charles Charlie
    Charlotte Chile Chris Christopher Claire Clark Cleveland Clinton Colin Collins Colonel Colorado Columbia
    Commonwealth Connecticut Connor Craig Czech Dallas Daniel Danish Danny Dave Davis Delhi Denmark Dennis
    Derek Detroit Diego Disney Donald Douglas Dublin Dutch Earl Eddie Edinburgh Edward Egypt Egyptian
    Elizabeth Emily Emma England Eric Ethan Evans February Finland Finnish Francis Francisco Franklin
    Frederick Gabriel Gary George Georgia Germans Glasgow Gordon Graham Greece Greek Greg Gregory Guinea
    Gulf Hamilton Hampshire Harold Harris Harrison Harry Harvard Hebrew Helen Henry Herbert Hispanic
    Hollywood Hong Houston Howard Hudson Hugh Hungarian Hungary Illinois Indiana Indians Iowa Iran Iraq
    Ireland Irish Islam Islamic Israel Israeli Italy Jackson Jacob Jake Jamie January Jason Jeff Jerry
    Jerusalem Jesus Jews Jimmy Johnny Johnson Jonathan Jones Jordan Joseph Josh Juan Julia Julian July June
    Justin Kansas Karl Kate Keith Kelly Kennedy Kent Kentucky Kevin Khan Kong Korea Korean Lanka Larry Laura
    Lawrence Leon Lewis Lily Lincoln Lisa Liverpool Lloyd Logan Louisiana Lucas Lucy Luis Luke Madison Maine
    Manchester Manhattan Manor Marcus Margaret Maria Marie Marshall Maryland Mason Matthew Mediterranean
    Melbourne Mexican Miami Michigan Milan Miller Minnesota Mississippi Missouri Mitchell Montreal Moore
    Morgan Morris Moscow Muhammad Murphy Murray Nathan Neil Nelson Netherlands Nicholas Noah Norman Norway
    Norwegian October Oliver Olympic Olympics Ontario Oregon Orleans Ottoman Owen Oxford Pacific Parker
    Patrick Perry Persian Pete Philadelphia Philip Pierre Pittsburgh Poland Portland Portugal Portuguese
    Quebec Queensland Rachel Ralph Rangers Richard Richmond Rick Robert Roberts Robinson Roger Romania
    Romanian Rome Ross Russell Russia Ryan Samuel Sarah Saturday Scotland Scott Scottish Seattle Sebastian
    Serbia Serbian Sergeant Serializable Seth Simon Singh Soviet Spain Spencer Squadron Stanley Stephen
    Steve Steven Stewart Stuart Susan Sweden Swedish Swiss Switzerland Sydney Symphony Taiwan Taylor
    Tennessee Terry Thailand Thomas Thompson Tokyo Tommy Tony Toronto Trinity Turkish Turner Ukraine
    Ukrainian Utah Vancouver Victor Victoria Victorian Vienna Vietnam Vincent Virginia Wales Walter Warner
    Warren Wayne Welsh William Williams Wilson Wisconsin Wright Yorkshire Zealand abandoned abc ability able
    abort abroad absence absolutely abuse academic academy accept accepted accepts accident accompanied
    according accounts accused achieve achieved achievement acid acoustic acquired acres across acted acting
    actors actress adaptation adapted addition additionally adjacent administration administrative admit
    admitted adopted adults advance advantage adventure advertising advice affair affairs affected
    affiliated afraid africa african afternoon afterwards against aged agencies agents ages aggregate ago
    agree agreed agreement agricultural agriculture aid aim aimed ain aircraft aired airport albums alcohol
    algorithm alleged alliance allied allies allowing alone alongside alternate alternative amateur amazing
    ambassador america american amongst analyze ancient angel angels anger angle angry animals anniversary
    annotated annotations announced annual annually answered answering anti anymore anyone anything anyway
    anywhere apache apart apartment apparent apparently appeal appear appearance appearances appeared
    appearing appears applied appointed approach approached appropriate appropriately approval approved
    approximately april arab arbitrary architect architectural architecture archive aren argued armed arms
    army arranged arrangement arrest arrested arrival arrive arrived arriving article articles artillery
    artist artistic artists arts ascii asian asked asking asks asleep aspects assault assert assign assigned
    assignment assist assistance assistant assisted associate associated association assume assumed
    asynchronous asynchronously asyncio athletic athletics atmosphere attached attachments attack attacked
    attacks attempt attempted attempting attempts attend attendance attended attending attention attorney
    attracted attributed audience august aunt australia authenticate authentication authorities authority
    authorization authors automatic automatically autumn available avenue aviation awarded awards aware
    awareness bachelor backed backing backward backwards badly baker ballet bands banks bare barely baseball
    bash basin basis basketball bass batches bath bathroom beach bears beast beating beautiful beauty became
    become becomes becoming bedroom began beginning begins begun behalf behavior behaviour behind belief
    believe believed believes belong belonged belt bench beneath benefit benefits bent berlin beside besides
    beyond bible bigger biggest billboard billion biological birds bishop bite blade blame blind blobs
    bloody blow blues boat boats bodies bones boots borders borough boto bottle bought boundary bowl
    boyfriend boys branch branches brazil breakfast breaking breath breathe breathing brick bricks brief
    briefly brigade bringing british broad broadcasting broke bronze brother brothers brought buffalo bugs
    building buildings builds bull bureau buried burned burning burst bush businesses businessman busy cabin
    cabinet cable california callable callbacks calm came campus canada canadian canal cancer candidates
    capable capacity cape capital captain captured carbon cardinal career careful carefully carried carrier
    carry carrying castle cathedral catholic cattle caught caused causes causing cavalry cave ceased ceiling
    celebrated cemetery census centers centuries century ceremony certain certainly chains chairman chamber
    champion champions championship championships chance chapel characteristics charged charges charity
    charter chase checked checking checkout checks cheek cheeks chemical chemistry cherry chest chicago
    childhood children chin chinese choice choices choir choose chorus chose chosen christian christmas
    chunks churches cinema circuit circumstances cited citizen citizens civilian claimed claiming claims
    clan classical classified classifier clause clay cleaned cleared clearly climate climb climbed clinical
    closely closer clothes clothing cls clubs coach coal coalition coast coastal coat collaboration
    collected collective college colleges colonial colony colored colour combination combined comedy comes
    comfortable comics comma commanded commander commented commissioned commissioner commits committed
    committee commonly commune communication communications communist communities companies comparator
    compared compatibility compatible compete competed competing competition competitions competitive
    compilation completely composed concentration concern concerned concerning concerns concert concerts
    concluded conclusion concrete concurrent condition conditions conduct conducted confidence configured
    confirmed conflict conflicts confused confusion congress connected connecting consecutive conservation
    conservative consider considerable considered considering consisted consisting consists constituency
    constitution constitutional constructed contain contained containing contemporary contest contested
    continental continued continues continuing continuous contrast contrib contributed contributing
    contribution contributions contributors controlled controversial controversy convention convinced cooper
    cooperation copies copper corner corporate corporation corps corrected correctly corresponding corridor
    corrupt corruption cosine costa costs cotton couch couldn council counties countries couple couples
    courts cousin coverage covered covering covers cpu crash crazy creates creating creation creative
    creature credential credentials credited credits creek crew cricket cried crime crimes criminal crisis
    critic criticism criticized critics crossed crossing crowd crown cry crying crystal ctx cultural cup
    curl customers cutting dad daemon damaged damn dance dancing dangerous darkness dataframe datasets dated
    datetime daughter daughters david dawn dealing dean dear deaths debate debt debut debuted decade decades
    december decide decided decides decision decisions declared decline declined decorator dedicated
    deepcopy deeper deeply defeat defeated defeating defence defend defending defense defensive definitely
    definitions degrees deleting deletion delivered demand demanded democracy democratic demolished demon
    denied department departure dependencies depending deployed deprecated depression depth deputy derived
    descent describe described describes descriptions desert designated designed designer designs desire
    desired desperate despite destroyed destruction detailed detective determine determined determines
    developed developers developing devices devil diameter dictionaries didn died differ differences
    difficult dimensions dinner directed directly director directories directors dirt disappeared disaster
    discovered discovery discuss discussed discussion disease dismissed displayed distant distinct
    distributed distribution districts diversity divided division divisions dna documentary documentation
    documented documents doesn dogs dollars domestic dominated donated doors doorway doubt downloads
    downtown dozen dragon drama dramatic drawn dreams dress dressed drew drinking driven drivers driving
    dropped drove drugs drum drummer drums drunk dtype dual duke dumps duo dust duties duty dvd dying
    dynasty eagle earlier earliest early earned ears easier easily eastern eating economic economics economy
    edited edition editions educated education educational effectively effort efforts eggs eighth elder
    elected election elections electoral electrical electricity electronic elementary elevation eleven elif
    eliminated elsewhere embedded embedding embeddings emerged emergency emotional emotions emperor empire
    employed employees encoded encountered encouraged ended endpoints ends enemies enforce engaged engineer
    engineering engineers engines english enjoy enjoyed enough ensemble entered entering entertainment
    entire entirely entitled entrance enumerate environ environmental environments episode episodes equipped
    equivalent era erected errors escaped especially essential establish establishment estate estimated etc
    ethnic europe european evaluator eve evening eventually everyone everything everywhere evidence evil
    evolution exactly excellent exclude executed executing executive exhibition existed existence expansion
    expedition expensive experienced experiences explain explained explicitly exponential exposed expressed
    expressions extensive extent extracted extraction extreme extremely eyed eyes faced facilities facility
    facing factors faculty failing fails fairly faith fallback fallen falling falls fame familiar families
    famous fantasy farmers fashion faster fate favor fear featured featuring federal federation feedback
    feeling feelings feels feet fell fellow felt females ferry festival fetching fiction fictional fifteen
    fifth fifty fighter fighting figured figures filed filesystem filled filmed films filtered filtering
    finally finals finance financial finds finger fingers finishing fired firm fishing fitted fixes fled
    fleet flesh flew flood florida flower flowers flows flying focused folded folk followed following
    follows football forbid forced forces forcing forehead foreign forests forever forgotten formal formally
    formatted formed formerly forming forth fortune forty foster fought founded founder founding fourth
    framework france franchise frank freedom french frequent frequently friday friendship fruit functools
    funded funding funds funeral funny fur further furthermore futures gained gang garden gardens gates
    gather gathered gathering gave gaze generally generates generating generations genre gentle gently genus
    german germany getattr getenv giant giants girlfriend girls gives giving glad glance glanced glob gmail
    goal goals gods goes going golden golf gone gonna gotten government governments governor gpu grabbed
    grace grades gradually graduate graduated graduating grandfather grandmother granted graphs grass grave
    greatest greatly grep grew grin grip grounds growing grown growth guard guardian guards guess guests
    guide guilty guitar guitarist guns guy guys habitat hadn hallway handed handful handled handling hanging
    hans happen happened happening happens harbor harder hardly hasattr hashlib hate hated haven headed
    headquarters heads hear heard hearing heaven heavily held helped helpers helping helps hence heritage
    hers herself hiding hierarchy higher highest highly highway hill hills him himself hips hired historian
    historic historical historically hitting hockey holding holds hole holy homepage homes honey honor
    honorary honour hoped hoping horn horror horse horses hosted hosts household households houses housing
    however https huge hull humans hundred hundreds hunt hunting hurricane hurt husband hybrid idea ideas
    identical identified identify identifying ids idx ignored iii illegal illustrated imagine immediate
    immediately impact imperial implementations implemented importance impossible improve improved inch
    inches incident incorporated incorrectly increased increasing increasingly indeed independence
    independent indexes indexing india indian indicate indicated indicates indices indigenous individuals
    indonesia indoor industrial industries infantry inference inferred influence influenced influential
    informed infrastructure inhabitants initialized initializing initially initiative injured injuries
    injury innings innocent inserted insisted inspect inspired installation installed instantly institute
    institution institutions instruct instrumental instruments insurance integrated intelligence intended
    intense intention interact interacting interested interests interior internally interrupted interview
    introduced introduction invasion investigation investment invited invocation involved involvement
    involving isbn isinstance island islands isn isolated issued issues italian iterable iterator itself
    jacket jail james jane japan japanese jaw jazz jean jeans jersey jewish jim joe joined joining joke jose
    journalist journey judges jumped junction junior jury justice keeping kept keyboards kicked killed
    killer killing kilometres kingdom kings kiss kissed kitchen knee knees knew knife knight knocked knowing
    knowledge knows kwargs labor laboratory labour lack ladies lady laid lakes landed landing lands
    landscape lap largely larger largest lasted latency latter laugh laughed laughing laughter launched laws
    lawyer lay leaders leadership leads leaned leaning learned leather leaves leaving legacy legend
    legislation legislative legislature legs letters letting liberal liberty libraries licensed lies
    lieutenant lifetime lift lifted liked likely lion lions lip lips liquid listed listening literally
    literary literature lived lives llama loaded loaders loading loads loan localhost locally located london
    longer longest looked looking lookup loose lose losing losses loud louis loved lover lowered lowest ltd
    lucky lunch lying lyrics machinery machines madrid magazine mainly maintain maintained maintenance
    majority makeup malaysia males mall managing manner manufacturing march marginal marine markdown marked
    marketing markets marriage married marry martin massive masters materials mathematics matt matter
    matters maximal maximum mayor meaning means meant meanwhile measure measures meat mechanical mechanism
    medal medals medical medicine medieval meet meeting meetings meets membership memorial memories mental
    mention mentioned merely merged merges meters methods metres metropolitan mexico michael microsoft
    midnight might mike mile miles military milk million mills mines minimum mining minister ministry minor
    minority minute minutes missed missions mistake mixing modes moments monastery monday monster monthly
    months monument mood moral morning mostly moth mountain mountains mounted mouth moved movements mph
    multiplier municipal municipality murder murdered muscle muscles museum musical musician musicians
    muslim myself mystery namespaces narrow narrowly nations naval navy ndarray nearby nearest nearly
    necessary neck needed needs negative neighborhood neighbors neither nervous networks newer newly
    newspaper newspapers nfl nights ninth noble nobody nod nodded nominated nomination noqa normalize
    normalized normally northeast northern northwest nose notable notably noted nothing notice noticed novel
    novels november nuclear numbers numerous numpy nurse oak observed obtain obtained obvious obviously
    occasion occasionally occasions occupation occupied occur occurred occurs ocean offensive offered
    offering officer officers offices officially officials ohio okay older oldest omit omitted ones onto
    opaque opened opera operate operated operates operating operational operations operators opinion
    opponent opportunities opportunity opposed opposite opposition optimization optimized optional
    optionally orchestra ordinary organisation organizations organized originally orthodox otherwise
    outcomes outdoor outstanding overlap overload overseas owned owners ownership pace packages packaging
    packed pain painted painter painting paintings pairs pakistan palace pale palm pandas panic pants papers
    parallel parents paris parish parking parks parliament parliamentary parsed parsing partial partially
    participants participate participated participation particular particularly parties partition partly
    partners partnership passage passenger passengers passes passing passion patches pathlib patients patrol
    patterns paul paused paying peace peak peaked pearl penalty peninsula people peoples percussion
    perfectly performances performed performing periods perl permanent personal personality personnel
    persons peter philippines philosophy phoenix photographs photography piano picked pilot pine pioneer pip
    pit placed placing planet planned planning plants plastic platforms plays playwright pleasure pocket
    poem poems poet poetry pointed pole police policies polish political politician politics poor pope
    popular popularity populate population populations portion portrait portrayed possession possibility
    possible possibly potential pounds poverty powerful powers practical practices praised prayer precedence
    pregnant premier premiere premiered prepared presence presented preserved president presidential pressed
    pressure pretrained prevent previously pride priest primarily prince princess principle principles
    printed prison prisoner prisoners prix prize probability probably problems processed processes produce
    produced producer producers produces producing productions professional professor programme programming
    programs progressive prominent promised promote promoted promotion prompted prompts proper properly
    proposal proposed protect protected protection protein protest protocol proud prove proved provided
    provides providing provinces provincial prune psychology publication publications publicly publishing
    puerto pulled pulling punk purchased purposes pushed pushing putting pytest qualified qualifying quality
    queen querying questions quickly quiet quietly races racial racing radar railroad railway raising ran
    randomness ranked ranking ranks rapid rapidly rare rarely reached reaches reaching readable reality
    realize realized rear reasons rebuilt receive receiving recently recognition recognize recognized
    recorded recording recordings recovered recovery recurse recursively reduce reduced referee referred
    refers reform refs refused regarded regarding regime regiment regional regression regularly regulations
    reign rejected related relation relations relationship relationships relative relatively releases
    relevance relevant relief religion religious remain remainder remained remaining remains remember
    remembered reminded remix remote removal remove removed renamed repeated repetition replaced replacement
    replacing replied reported reportedly reporter repositories repr representative representatives
    represented representing represents republic republican reputation requested requirements rescue
    researchers reserve residence resident residential residents residing resigned resistance resolution
    resolved resort respect respectively responded responsibility responsible restaurant restoration
    restored resulted resulting retail retained retention retired retirement retries retrieval retrieve
    retrieved returning revealed revenge revenue revival revolution revolutionary rewrite rewritten rhythm
    rice rico ride ridge riding rifle rise rising rival rivers roads robin rocks rocky rolled rolling
    romantic roof rooms roots rough roughly rounds royal rst rugby ruled ruling runnable runners rural rush
    rushed russian sacred safety said saint saints sandbox sang santa satellite saw saying says scared
    scenes scent schemas scholar scholars scholarship schools science sciences scientific scientist
    scientists scoped scopes scored scoring scrape scream screamed sculpture sdk sean searches searching
    seasons seats secondary secretary secrets secured seeing seeking seem seemed seems sees selects selling
    semantic semi senate senator senior sensitive separate separated september sequences serious seriously
    served serves serving settled settlement seventh several severe shadows shake shaking shall shaped
    shares sharp sheriff shields shifted ships shirt shock shocked shoes shook shooting shore shortly shots
    shoulder shoulders shouldn shouted showed shower showing shown shrugged shut sick sides siege sigh
    sighed sight signature significant significantly signing signs silence silent silently silk similar
    similarity similarly simply singapore singer singing singles sir sister sisters sitting situated
    situation sixteen sixth slave slaves sleeping slid slight slightly slipped slowly smaller smell smile
    smiled smiling smoke smooth snapped snippet soccer socialist society softly soil solar soldier soldiers
    sole solo somehow someone somewhat somewhere songwriter sons sought soul sounded soundtrack soup
    southeast southern southwest spanish speak speaking specifically specification specified specify
    specifying spend spending spent spider spirit spiritual splitter spoke spoken sponsored spotted springs
    sqlalchemy squad ssh ssl stable stadium stages stairs standards stands stare stared staring starred
    starring starts stash stated statements stating stations statue stayed staying stdin steady steel
    stepped steps stomach stones stood stopped stops straight strange strategic streaming streets strength
    stress stretched stronger strongly struck structured structures struggle struggled stuck studied studies
    studios studying stupid subclass subclasses subjects submarine subsequent subsequently substantial
    succeeded successful successfully successor sudden suddenly suffered suffering sufficient suffix sugar
    suggest suggested suggests suicide suit suitable summary summit sunday sung superior supplied supplies
    supply supporters supporting supports suppose supposed supreme surgery surprise surprised surrounded
    surrounding survive survived surviving suspected suspended svn swept swimming switched sword symbolic
    takes tale talent tales talked talking tall tamil tanks tape taste taught tea teach teacher teachers
    teaching teams tears technical technique techniques technologies technology teeth telephone television
    telling tells temperature tempfile temple tend tennis tension terminal terms terrible territories
    territory tested texas texts thai theater theatre themselves theory therapy thereafter therefore thick
    thinks thirteen thirty thoughts thousand thousands threading threat threatened threw throat throne
    throughout throwing thrown tie tied ties tiger tight till timber tired titled todd together tokenizer
    told tomorrow tone tongue tonight tons took toolkit torch totally touched touching toured touring
    tourism tournament toward towards towns township tqdm traces tracing traded trading tradition
    traditional traditionally traffic trailing trained trains transferred transformer transformers transit
    translated transmission transportation traveled traveling treated treatment treaty trials tribe tribes
    tribute tried tries trio triple trivial troops trophy tropical trouble truck truly truncate ttl tunnel
    tuples turbo turkey turned turning turns twelve twenty twice twin twisted typical typically typing
    ultimate ultimately uncle underlying understand understanding understood united universal universe
    universities university unlike unnecessary until unusual updating upset upstream urban urllib urls usa
    useful usual uuid validated valley valuable vampire vampires variables variety various vars vast vectors
    vegas vehicles venture venue verbose verify versions versus vessel vessels vice victim victims victory
    viewed viewers villa village villages violence violent violin virgin visit visited visiting visitors
    visual vocal vocals voice voiced voices volume volumes volunteer von voted voters voting waist waited
    waiting walked walls wanted wanting wants ward warnings warrior warriors wars washington wasn waste
    watched watching waters waved waves ways wealth wealthy weapons wear wearing wedding weekend weekly
    weeks weird wells went weren western wet whenever whereas whilst whisper whispered whitespace whom whose
    widely wider widespread wife wildlife willing winds wine wing wings winners winning wish wished witch
    withdrew wonder wondered wonderful wondering wooden woods wore workaround worked workflows worldwide
    worn worried worry worse worst worth wouldn wound wounded wrestling wrist writers wrote www yard yards
    yeah yield york young younger youngest yours yourself youth ав адрес ак баз без бл боль буд будет бы
    быть ваш вер вид воз врем время вс все всех вы выб вывод выз вып выполн да дан данные данных дв дел для
    до добав долж дост доступ друг его если есть за зав заг зад зак заказ зап запис запрос знач значение
    значения иг из измен или им имя ин интер информ исп использ кажд как карт кл класс кли ключ кноп ко код
    кол количество ком комп кон конт кор котор который ли лю массив мат мен метод мин мод мож может можно мы
    на найд нап нач не нет нов номер нуж об объ объект од ок он оп ос от ответ отправ оч ошиб пар парамет
    пер перв перед перем по пов под пол получ пользователя поля пом пор послед пот пр прав пред при про пров
    провер програм программ прод работ работы раз размер рас сай сам св сер сервер систем ск сл след слов
    случ со содерж сообщ сост сохран сп спис списка список ссыл ст стр страниц строк строки так тек текст
    текущ тип то товар только точ тр удал уже указ усл усп успеш фай файл файла форм чер чис число чт что
    чтобы эк элемент эт это
"""
SPACED_WORDS = frozenset(_SPACED_WORDS.split())
